// Care: which texts count as harmful today, and the limit. The same rules: crates/project/src/care_file.rs.
import type { Answer, HarmfulFrom, LevelId, OwnCare, Scale, StudyCare } from "$api/bindings";
import { isOrdinal } from "$kinds/kinds";
import { includes } from "$kinds/rules";
import { idAt, positionOf } from "$kinds/scale";

/** Days on which the read texts are stored. */
const DAYS = 3;
/** Harmful texts are counted once this many texts were read, so that the count reveals none. */
const COUNTED_AFTER = 5;

interface Day {
  /** Ids of texts. */
  read: string[];
  harmful: string[];
  went_on: boolean;
}

/**
 * The level from which on texts are harmful, by names that hold in every packet; its former position is for
 * a level that was removed since.
 */
export interface StoredHarmful {
  question: string;
  key: string;
  /** Where it was; earlier pages did not store it. */
  place?: number;
}

/** A person's choices. */
export type StoredChoice = Omit<OwnCare, "harmful"> & { harmful: StoredHarmful | null };

/** The level that was stored; if it is gone, the one in its position, or the highest. */
export function levelOf(
  { key, place }: StoredHarmful,
  scale: Scale,
  keys: readonly string[],
): LevelId | null {
  const level = keys.indexOf(key);
  if (level >= 0 && positionOf(scale, level) !== null) return level;
  return idAt(scale, Math.min(place ?? 0, scale.levels.length - 1));
}

export interface StoredCare {
  own: StoredChoice;
  days: Record<string, Day>;
  harmful: number;
  read: number;
  newest: number;
}

export const NO_CARE: StoredCare = {
  own: { limit: null, harmful: null, words: [], groups: [] },
  days: {},
  harmful: 0,
  read: 0,
  newest: 0,
};

/** After a text was read on a day; a text counts once a day. */
export function noteRead(stored: StoredCare, today: string, text: string, harmful: boolean): StoredCare {
  const now = structuredClone(stored);
  const day = (now.days[today] ??= { read: [], harmful: [], went_on: false });
  if (harmful && !day.harmful.includes(text)) {
    day.harmful.push(text);
    now.harmful += 1;
    now.newest += 1;
  }
  if (!day.read.includes(text)) {
    day.read.push(text);
    now.read += 1;
    if (now.read % COUNTED_AFTER === 0) now.newest = 0;
  }
  for (const old of Object.keys(now.days).toSorted()) {
    if (Object.keys(now.days).length <= DAYS + 1) break;
    if (old !== today) delete now.days[old];
  }
  return now;
}

/** After the person chose to continue beyond the limit. */
export function goOn(stored: StoredCare, today: string): StoredCare {
  const now = structuredClone(stored);
  (now.days[today] ??= { read: [], harmful: [], went_on: false }).went_on = true;
  return now;
}

export function isReached(
  stored: StoredCare,
  today: string,
  limit: number | null,
  mayGoOn: boolean,
): boolean {
  const day = stored.days[today];
  if (!day || limit === null) return limit === 0;
  return day.harmful.length >= limit && !(day.went_on && mayGoOn);
}

/** The shown counts: harmful texts today, and of all days. */
export function counted(stored: StoredCare, today: string): { today: number; in_all: number } {
  const less = (count: number) => Math.max(0, count - stored.newest);
  return { today: less(stored.days[today]?.harmful.length ?? 0), in_all: less(stored.harmful) };
}

/** A study without a limit allows everything. */
export const mayGoOn = (study: StudyCare): boolean => !study.strict || study.limit === null;

export function limitOf(study: StudyCare, own: number | null): number | null {
  if (study.limit !== null && own !== null && study.strict) return Math.min(study.limit, own);
  return own ?? study.limit;
}

/** Which answers mark a text as harmful: by the study, or else by the person. */
export const harmfulFrom = (study: StudyCare, own: OwnCare): HarmfulFrom[] =>
  study.harmful.length > 0 ? study.harmful : own.harmful ? [own.harmful] : [];

/** Whether an answer marks a text as harmful: on an ordinal scale this level and those above it. */
export function isHarmful(answer: Answer, scale: Scale, level: LevelId): boolean {
  const from = positionOf(scale, level);
  const given = answer.kind === "level" ? positionOf(scale, answer.value) : null;
  return from !== null && given !== null && isOrdinal(scale) ? given >= from : includes(answer, level);
}
