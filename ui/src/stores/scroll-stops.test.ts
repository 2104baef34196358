// Which areas are stops of the keyboard because they scroll and hold no control.
import { beforeEach, expect, it } from "vitest";
import { markScrollStops } from "./scroll-stops";

/** An area of this height in a page without layout, with a content that is higher or not. */
function area(id: string, high: boolean): HTMLElement {
  const one = document.getElementById(id)!;
  Object.defineProperty(one, "clientHeight", { value: 100, configurable: true });
  Object.defineProperty(one, "scrollHeight", { value: high ? 300 : 100, configurable: true });
  return one;
}

beforeEach(() => {
  document.body.innerHTML =
    '<div class="scroll" id="words"><p>Long</p></div>' +
    '<div class="scroll" id="controls"><button>Go</button></div>' +
    '<div class="scroll" id="off"><button disabled>Go</button></div>' +
    '<div class="scroll" id="own" tabindex="-1">Long</div>';
});

it("are those that hide something and hold no control that can be used", () => {
  const [words, controls, off, own] = ["words", "controls", "off", "own"].map((id) => area(id, true));
  markScrollStops();
  expect(words).toHaveAttribute("tabindex", "0");
  expect(off).toHaveAttribute("tabindex", "0");
  expect(controls).not.toHaveAttribute("tabindex");
  expect(own).toHaveAttribute("tabindex", "-1");
});

it("are stops no longer once everything fits", () => {
  const words = area("words", true);
  markScrollStops();
  area("words", false);
  markScrollStops();
  expect(words).not.toHaveAttribute("tabindex");
});

it("keep the focus until it goes on", () => {
  const words = area("words", true);
  markScrollStops();
  words.focus();
  area("words", false);
  markScrollStops();
  expect(document.activeElement).toBe(words);
  words.blur();
  expect(words).not.toHaveAttribute("tabindex");
});
