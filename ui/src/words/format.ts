// Numbers and times as the window writes them. What is not known is a dash, never a zero.
import { language, t } from "$messages/messages.svelte";

const wholes = new Map<string, Intl.NumberFormat>();
const names = new Intl.Collator("en", { numeric: true });
const DASH = "–";

/** What intervals hold with, wherever the window names it: the level that the program works them out with. */
export const CONFIDENCE = "95 %";

/** Orders people by name, "Ann 2" before "Ann 10". */
export function byName(a: { name: string }, b: { name: string }): number {
  return names.compare(a.name, b.name);
}

/** 12,345 */
export function count(n: number): string {
  const tag = language();
  const known = wholes.get(tag) ?? new Intl.NumberFormat(tag);
  wholes.set(tag, known);
  return known.format(n);
}

/** "1 text", "2,000 texts". */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${plural(n, one, many)}`;
}

/** "262 annotators (3 without a label yet)" */
export function annotatorsWords(n: number, withoutLabels: number): string {
  const without = withoutLabels > 0 ? ` (${count(withoutLabels)} without a label yet)` : "";
  return counted(n, "annotator") + without;
}

/** "text" of one, "texts" of any other number. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return n === 1 ? one : many;
}

/** A share of 1 as whole percent. */
export function percent(share: number | null | undefined): string {
  // Plus zero, so that what rounds to zero has no sign.
  return share == null ? DASH : t("format.percent", { percent: Math.round(share * 100) + 0 });
}

/** Two decimals, with a real minus sign, and none before what rounds to zero. */
export function decimal(n: number | null | undefined, digits = 2): string {
  return n == null
    ? DASH
    : n
        .toFixed(digits)
        .replace(/^-(?=[0.]+$)/, "")
        .replace(/^-/, "−");
}

/** As {@link decimal}, with a plus where it is above zero. */
export function signed(n: number | null | undefined, digits = 2): string {
  const written = decimal(n, digits);
  return n != null && n > 0 && /[1-9]/.test(written) ? `+${written}` : written;
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
  return `${Math.round(low * 100)}–${Math.round(high * 100)} %`;
}

/** "90.9 MB" */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
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

/** "[0.41, 0.52]" */
export function range(low: number | null, high: number | null, digits = 3): string {
  return low === null || high === null ? "" : `[${decimal(low, digits)}, ${decimal(high, digits)}]`;
}

/** A p value: as many digits as it deserves. */
export function pValue(p: number | null): string {
  if (p === null) return DASH;
  if (p < 0.001) return "< 0.001";
  return p.toFixed(p < 0.1 ? 3 : 2);
}

/** "today", "yesterday", "3 days ago", or a date. */
export function dayOf(at: number | null, now = Date.now()): string {
  if (at == null) return DASH;
  const midnight = (ms: number) => new Date(ms).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(now) - midnight(at)) / 86_400_000);
  if (days < 14)
    return new Intl.RelativeTimeFormat(language(), { numeric: "auto" }).format(-Math.max(0, days), "day");
  return new Date(at).toLocaleDateString(language(), { year: "numeric", month: "short", day: "numeric" });
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
