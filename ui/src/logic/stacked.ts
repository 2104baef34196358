// Dots that share a place, stacked upwards and made smaller where they would not fit.

interface Stacked<T> {
  item: T;
  /** Off the common place, and up from it. */
  dx: number;
  dy: number;
  /** Diameter. */
  size: number;
}

/** Stacks `items` that have the same `at`: at most `size` wide, `height` high in all, in as many columns as `width` holds. */
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
