// Stacks dots at the same position, shrinking them to fit.

interface Stacked<T> {
  item: T;
  /** The offset from the common position, sideways and upwards. */
  dx: number;
  dy: number;
  /** Diameter. */
  size: number;
}

/**
 * Stacks `items` with equal `at`: dots at most `size` wide, `height` in total, in as many columns as fit
 * `width`.
 */
export function stacked<T extends { at: number }>(
  items: readonly T[],
  size: number,
  height: number,
  width: number,
): Stacked<T>[] {
  const places = new Map<number, T[]>();
  for (const item of items) {
    const there = places.get(item.at);
    if (there) there.push(item);
    else places.set(item.at, [item]);
  }
  const most = Math.max(1, ...[...places.values()].map((there) => there.length));
  const holds = (diameter: number) =>
    Math.max(1, Math.floor(width / diameter)) * Math.max(1, Math.floor(height / diameter));
  let diameter = size;
  while (diameter > 1 && holds(diameter) < most) diameter *= 0.9;
  const rows = Math.max(1, Math.floor(height / diameter));
  return [...places.values()].flatMap((there) => {
    const columns = Math.ceil(there.length / rows);
    return there.map((item, n) => ({
      item,
      dx: ((n % columns) - (columns - 1) / 2) * diameter,
      dy: Math.floor(n / columns) * diameter,
      size: diameter,
    }));
  });
}
