// What of a screen cannot be seen or reached: beyond the window, cut off, or one control on another.
import { isBody, placeOf } from "./shown";

const CONTROLS = "button, select, input, textarea, a[href], summary, [role=tab]";
const READ = `${CONTROLS}, h1, h2, h3, p, li, th, dt, label`;
const NOTICES = "[data-testid$=-toast]";
/** Rounded pixels. */
const SLACK = 1;

const overflow = (element: Element, side: "X" | "Y") => getComputedStyle(element)[`overflow${side}`];
const scrolls = (element: Element, side: "X" | "Y") => /auto|scroll/.test(overflow(element, side));
const above = (element: Element): Element[] =>
  element.parentElement ? [element.parentElement, ...above(element.parentElement)] : [];
const isSeen = (element: Element) =>
  element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
  element.closest(".out-of-sight, [inert]") === null &&
  element.getBoundingClientRect().width > 0;
const noted = (what: string, element: Element) =>
  `${what}: ${(element.textContent.trim() || element.ariaLabel || "").slice(0, 60)} (${placeOf(element)})`;

/** Whether the words of a button or tab are longer than it is. */
const isFull = (element: Element) =>
  element.matches("button, [role=tab]") &&
  element.scrollWidth > element.clientWidth + SLACK &&
  !element.matches(".clip");

/** What is beyond the edges of the window and cannot be scrolled to, and words that a control cuts off. */
function beyond(element: Element): string[] {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const boxes = above(element);
  const isCut = isFull(element) && overflow(element, "X") !== "visible";
  return [
    (left < -SLACK || right > innerWidth + SLACK) &&
      !boxes.some((box) => scrolls(box, "X")) &&
      "beside the window",
    (top < -SLACK || bottom > innerHeight + SLACK) &&
      !boxes.some((box) => scrolls(box, "Y")) &&
      "below the window",
    isCut && "cut off",
  ].flatMap((what) => (what === false ? [] : [noted(what, element)]));
}

/**
 * A text that a box around it cuts off, without "…" and a title with all of it. Of texts to be judged a list
 * shows the beginning: choosing one shows all of it.
 */
function cut(text: Text): string[] {
  const element = text.parentElement;
  if (!element || text.data.trim() === "" || isBody(text.data.trim()) || !isSeen(element)) return [];
  const range = document.createRange();
  range.selectNodeContents(text);
  const words = range.getBoundingClientRect();
  for (const box of [element, ...above(element)]) {
    const [x, y] = [overflow(box, "X"), overflow(box, "Y")];
    if (x === "visible" && y === "visible") continue;
    const edge = box.getBoundingClientRect();
    const isWide = !scrolls(box, "X") && (words.right > edge.right + SLACK || words.left < edge.left - SLACK);
    const isHigh = !scrolls(box, "Y") && (words.bottom > edge.bottom + 3 || words.top < edge.top - 3);
    const { textOverflow, webkitLineClamp } = getComputedStyle(box);
    const dots = isWide ? textOverflow === "ellipsis" : webkitLineClamp !== "none";
    const hasTitle = element.closest("[title]") !== null || box.querySelector("[title]") !== null;
    if (isWide || isHigh)
      return dots && hasTitle ? [] : [noted(dots ? "cut off without a title" : "cut off", element)];
    if (scrolls(box, "X") || scrolls(box, "Y")) return [];
  }
  return [];
}

/** The part of an element that no box around it hides. */
function seenPart(element: Element): { left: number; right: number; top: number; bottom: number } {
  const part = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  for (const box of [element, ...above(element)]) {
    if (box !== element && overflow(box, "X") === "visible" && overflow(box, "Y") === "visible") continue;
    const { left, right, top, bottom } = box.getBoundingClientRect();
    part.left = Math.max(part.left, left);
    part.right = Math.min(part.right, right);
    part.top = Math.max(part.top, top);
    part.bottom = Math.min(part.bottom, bottom);
  }
  return part;
}

/** Pairs of controls of which one lies on the other. What an open dialog covers is none; notices go away. */
function overlaps(): string[] {
  const room = [...document.querySelectorAll("[role=dialog]")].at(-1) ?? document.body;
  const all = [...room.querySelectorAll(CONTROLS)].filter(
    (one) => isSeen(one) && one.closest(NOTICES) === null,
  );
  const parts = all.map((one) => [one, seenPart(one)] as const);
  return parts.flatMap(([one, a], at) =>
    parts.slice(at + 1).flatMap(([other, b]) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      const isInside = one.contains(other) || other.contains(one);
      return wide > 2 && high > 2 && !isInside
        ? [noted(`on ${placeOf(one)} ${one.textContent.trim().slice(0, 30)}`, other)]
        : [];
    }),
  );
}

/** What is beyond the window or wider than its control. */
export function beyondWindow(): string[] {
  const found = [...document.querySelectorAll(READ)].filter(isSeen).flatMap(beyond);
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways");
  return [...new Set(found)];
}

/** All of that, and texts that are cut off, and controls that lie on others. */
export function misplaced(): string[] {
  const texts: string[] = [];
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node; node = nodes.nextNode()) texts.push(...cut(node as Text));
  const full = [...document.querySelectorAll(CONTROLS)].filter((one) => isSeen(one) && isFull(one));
  const wide = full.map((one) => noted("wider than its control", one));
  return [...new Set([...beyondWindow(), ...texts, ...wide, ...overlaps()])];
}
