// Numbers and times as the window writes them. What is not known is a dash, never a zero.
import { locale, t } from "$messages/messages.svelte";

const formats = new Map<string, Intl.NumberFormat>();
const names = new Intl.Collator("en", { numeric: true });
const DASH = "–";

/** "95 %": the level of intervals, wherever the window names it; the program computes them with it. */
export const confidence = (): string => percent(0.95);

/** A format of numbers in the language in use, by a name of its own. */
function numbers(name: string, options?: Intl.NumberFormatOptions): Intl.NumberFormat {
  const tag = locale();
  const key = `${tag} ${name}`;
  const known = formats.get(key) ?? new Intl.NumberFormat(tag, options);
  formats.set(key, known);
  return known;
}

/** With so many decimals, and a real minus sign. `signed`: with a plus above zero. */
function fixed(n: number, digits: number, signed = false, unit?: string): string {
  const format = numbers(`${digits} ${signed} ${unit}`, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: false,
    signDisplay: signed ? "exceptZero" : "auto",
    ...(unit && { style: "unit", unit, unitDisplay: "short" }),
  });
  // Intl rounds what is written, not the number itself. Plus zero, so that what rounds to zero has no sign.
  return format.format(Number(n.toFixed(digits)) + 0).replace("-", "−");
}

/** Orders people by name, "Ann 2" before "Ann 10". */
export function byName(a: { name: string }, b: { name: string }): number {
  return names.compare(a.name, b.name);
}

/** 12,345 */
export function count(n: number): string {
  return numbers("whole").format(n);
}

/** "262 annotators (3 without a label yet)" */
export function annotatorsWords(n: number, withoutLabels: number): string {
  const annotators = t("counts.annotators", { count: n });
  return withoutLabels > 0
    ? t("counts.annotators_without_labels", { annotators, count: withoutLabels })
    : annotators;
}

/** A share of 1 as whole percent. */
export function percent(share: number | null | undefined): string {
  // Plus zero, so that what rounds to zero has no sign.
  return share == null ? DASH : t("format.percent", { percent: Math.round(share * 100) + 0 });
}

/** Two decimals, with a real minus sign, and none before what rounds to zero. */
export function decimal(n: number | null | undefined, digits = 2): string {
  return n == null ? DASH : fixed(n, digits);
}

/** As {@link decimal}, with a plus where it is above zero. */
export function signed(n: number | null | undefined, digits = 2): string {
  return n == null ? DASH : fixed(n, digits, true);
}

/**
 * Change of alpha if one person is left out, with digits enough for one among hundreds, whose alphas are
 * equal to two digits.
 */
export function alphaChange(without: number | null, all: number | null): string {
  return without === null || all === null ? DASH : signed(without - all, 4);
}

/** "40–56 %" */
export function interval(ends: readonly [number | null, number | null]): string {
  const [low, high] = ends;
  if (low == null || high == null) return DASH;
  return t("format.percent_range", { low: Math.round(low * 100) + 0, high: Math.round(high * 100) + 0 });
}

/** "90.9 MB" */
export function megabytes(bytes: number): string {
  return fixed(bytes / 1e6, bytes < 1e7 ? 1 : 0, false, "megabyte");
}

/** "2 min left"; rounded up. */
export function timeLeft(seconds: number): string {
  if (seconds < 60) return t("format.seconds_left", { seconds: Math.max(1, Math.ceil(seconds)) });
  if (seconds < 3600) return t("format.minutes_left", { minutes: Math.ceil(seconds / 60) });
  return t("format.hours_left", { hours: Math.ceil(seconds / 3600) });
}

/** "0.8 s", "42 s", "3 min 20 s", "1 h 12 min". */
export function duration(seconds: number | null | undefined): string {
  if (seconds == null) return DASH;
  if (seconds < 9.95) return t("format.tenths", { seconds: Number(seconds.toFixed(1)) });
  const whole = Math.round(seconds);
  if (whole < 60) return t("format.seconds", { seconds: whole });
  const minutes = Math.round(seconds / 60);
  if (whole < 600 && whole % 60 > 0)
    return t("format.minutes_seconds", { minutes: Math.floor(whole / 60), seconds: whole % 60 });
  if (minutes < 60) return t("format.minutes", { minutes });
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0
    ? t("format.hours", { hours })
    : t("format.hours_minutes", { hours, minutes: minutes % 60 });
}

/** "[0.41, 0.52]"; with a semicolon between numbers that have a comma. */
export function range(low: number | null, high: number | null, digits = 3): string {
  if (low === null || high === null) return "";
  const ends = [fixed(low, digits), fixed(high, digits)];
  return `[${ends.join(ends.some((end) => end.includes(",")) ? "; " : ", ")}]`;
}

/** A p value: as many digits as it deserves. */
export function pValue(p: number | null): string {
  if (p === null) return DASH;
  if (p < 0.001) return `< ${fixed(0.001, 3)}`;
  return fixed(p, p < 0.1 ? 3 : 2);
}

/** "today", "yesterday", "3 days ago", or a date. */
export function dayOf(at: number | null, now = Date.now()): string {
  if (at == null) return DASH;
  const midnight = (ms: number) => new Date(ms).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(now) - midnight(at)) / 86_400_000);
  if (days < 14)
    return new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(-Math.max(0, days), "day");
  return dateOf(at);
}

/** "Nov 24, 2026" */
export function dateOf(at: number): string {
  return new Date(at).toLocaleDateString(locale(), { year: "numeric", month: "short", day: "numeric" });
}

/** "Nov 24, 2026, 14:05" */
export function momentOf(at: number | null): string {
  if (at === null) return DASH;
  return new Date(at).toLocaleString(locale(), {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  });
}

/** A message as a sentence of its own: with a capital letter, unless it begins with a name or a path. */
export function sentence(message: string): string {
  return /^[a-z]+[\s,:]/.test(message) ? message.charAt(0).toUpperCase() + message.slice(1) : message;
}

/** The last part of a path, either system's. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).pop() || path;
}

/** The lines that are not blank, without white space around them. */
export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
