// What jsdom lacks, and a clean page before each test.
import "@testing-library/jest-dom/vitest";
import { cleanup } from "@testing-library/svelte";
import { afterEach, vi } from "vitest";

class StillObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

vi.stubGlobal("ResizeObserver", StillObserver);
/** A mouse's, as far as tests need it. */
class SimplePointerEvent extends MouseEvent {
  readonly pointerId = 1;
  readonly pointerType = "mouse";
}
if (typeof PointerEvent === "undefined") vi.stubGlobal("PointerEvent", SimplePointerEvent);
window.matchMedia ??= (query: string) =>
  ({
    matches: false,
    media: query,
    addEventListener: () => {},
    removeEventListener: () => {},
  }) as unknown as MediaQueryList;
Element.prototype.scrollBy ??= () => {};
Element.prototype.scrollTo ??= () => {};
Element.prototype.scrollIntoView ??= () => {};
Element.prototype.hasPointerCapture ??= () => false;
Element.prototype.setPointerCapture ??= () => {};
Element.prototype.releasePointerCapture ??= () => {};

afterEach(() => {
  cleanup();
  localStorage.clear();
});
