// Numbers and times as the window writes them. What is not known is a dash, never a zero.

const whole = new Intl.NumberFormat("en");
const DASH = "–";

/** 12,345 */
export function count(n: number): string {
  return whole.format(n);
}

/** "1 text", "2,000 texts". */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** A share of 1 as whole percent. */
export function percent(share: number | null | undefined): string {
  return share == null ? DASH : `${Math.round(share * 100)} %`;
}

/** Two decimals, with a real minus sign. */
export function decimal(n: number | null | undefined, digits = 2): string {
  return n == null ? DASH : n.toFixed(digits).replace(/^-/, "−");
}

/** As {@link decimal}, with a plus where it is above zero. */
export function signed(n: number | null | undefined, digits = 2): string {
  return n != null && n > 0 ? `+${decimal(n, digits)}` : decimal(n, digits);
}

/** "40–56 %" */
export function interval(ends: readonly [number | null, number | null]): string {
  const [low, high] = ends;
  if (low == null || high == null) return DASH;
  return `${Math.round(low * 100)}–${Math.round(high * 100)} %`;
}

/** "2 min left"; rounded up, so that it never promises too much. */
export function timeLeft(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.ceil(seconds))} s left`;
  if (seconds < 3600) return `${Math.ceil(seconds / 60)} min left`;
  return `${Math.ceil(seconds / 3600)} h left`;
}

/** "today", "yesterday", "3 days ago", or a date. */
export function dayOf(at: number | null, now = Date.now()): string {
  if (at == null) return DASH;
  const midnight = (ms: number) => new Date(ms).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(now) - midnight(at)) / 86_400_000);
  if (days <= 0) return "today";
  if (days === 1) return "yesterday";
  if (days < 14) return `${days} days ago`;
  return new Date(at).toLocaleDateString("en", { year: "numeric", month: "short", day: "numeric" });
}

/** A message as a sentence of its own: with a capital letter, unless it begins with a name or a path. */
export function sentence(message: string): string {
  return /^[a-z]+[\s,:]/.test(message) ? message.charAt(0).toUpperCase() + message.slice(1) : message;
}

/** The last part of a path, either system's. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).pop() || path;
}
