// Values of an attribute as colour and shape; both, so that colour is never the only sign.
import {
  symbol,
  symbolCircle,
  symbolCross,
  symbolDiamond,
  symbolSquare,
  symbolStar,
  symbolTriangle,
  symbolWye,
} from "d3-shape";
import { t } from "$messages/messages.svelte";

export interface Category {
  /** Distinguishes it from others: a name of all others can be the value of an attribute too. */
  id: number;
  value: string;
  colour: string;
  /** An SVG path around the origin. */
  path: string;
}

const SHAPES = [
  symbolCircle,
  symbolSquare,
  symbolTriangle,
  symbolDiamond,
  symbolCross,
  symbolStar,
  symbolWye,
];
const AREA = 78;
/** The eighth is for everything without a colour of its own. */
const OWN = 7;

/**
 * The most frequent values get a symbol of their own; others share one. Without an attribute all are the
 * same.
 */
export function categorise(values: readonly string[]): {
  list: Category[];
  of: (value: string | undefined) => Category;
} {
  const list: Category[] = values.slice(0, OWN).map((value, i) => ({
    id: i,
    value,
    colour: `var(--cat-${i + 1})`,
    path: pathOf(i),
  }));
  const others: Category = {
    id: OWN,
    value: t("importing.value_others"),
    colour: "var(--cat-8)",
    path: pathOf(0),
  };
  const unknown: Category = {
    id: OWN + 1,
    value: t("importing.value_not_known"),
    colour: "var(--cat-8)",
    path: pathOf(0),
  };
  if (values.length > OWN) list.push(others);
  return {
    list,
    of: (value) => (value === undefined ? unknown : (list[values.indexOf(value)] ?? others)),
  };
}

function pathOf(shape: number): string {
  return symbol(SHAPES[shape % SHAPES.length], AREA)() ?? "";
}
