// The levels of a scale: answers name them by id, and the window shows them by position, lowest first.
// An id stays the same when levels are renamed, moved, added or removed.
import type { LevelId, Scale } from "$api/bindings";

/** The id of each level, in the order of the scale. */
export const idsOf = ({ ids, levels }: Scale): readonly LevelId[] => ids ?? levels.map((_, at) => at);

/** The id of the level at a position; null if there is none. */
export const idAt = (scale: Scale, position: number): LevelId | null => idsOf(scale)[position] ?? null;

/** The position of a level; null if it is not on the scale. */
export function positionOf(scale: Scale, id: LevelId): number | null {
  const position = idsOf(scale).indexOf(id);
  return position < 0 ? null : position;
}

/** The name of a level; undefined if it is not on the scale. */
export function nameOf(scale: Scale, id: LevelId): string | undefined {
  const position = positionOf(scale, id);
  return position === null ? undefined : scale.levels[position];
}
