// Moving between scattered points by arrow keys.

export interface Point {
  x: number;
  y: number;
}

const WAYS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** True for the keys that {@link nearest} understands. */
export function isArrow(key: string): boolean {
  return key in WAYS;
}

/**
 * The index of the point reached from `from` by an arrow key, y growing downwards: the nearest in that
 * quadrant, with sideways distance counting double. -1 if there is none.
 */
export function nearest(points: readonly Point[], from: number, key: string): number {
  const start = points[from];
  const way = WAYS[key];
  if (!start || !way) return -1;
  let best = -1;
  let least = Infinity;
  points.forEach((point, i) => {
    const dx = point.x - start.x;
    const dy = point.y - start.y;
    const along = dx * way[0] + dy * way[1];
    const off = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
    if (i === from || along <= 0 || off > along) return;
    const far = along + 2 * off;
    if (far < least) [best, least] = [i, far];
  });
  return best;
}
