// How large the window is drawn; remembered on this computer.
import { remember, remembered } from "./local-storage";
import * as platform from "$platform";

/** In percent of the size that the system asks for: each about an eighth larger than the one before. */
export const SIZES: readonly number[] = [80, 90, 100, 112, 125, 140, 160];
const STORE = "zoom";
const isSize = (value: unknown): value is number => SIZES.includes(value as number);

export class Zoom {
  #percent = $state(remembered(STORE, 100, isSize));

  get percent(): number {
    return this.#percent;
  }

  /** The next size up or down; there it stays at the ends. */
  step(by: 1 | -1): void {
    this.set(SIZES[SIZES.indexOf(this.#percent) + by] ?? this.#percent);
  }

  set(percent: number): void {
    if (!isSize(percent) || percent === this.#percent) return;
    this.#percent = percent;
    remember(STORE, percent === 100 ? null : percent);
    void platform.setZoom(percent / 100);
  }

  /** Draws the window as it was drawn last. */
  begin(): void {
    if (this.#percent !== 100) void platform.setZoom(this.#percent / 100);
  }
}

export const zoom = new Zoom();

/** Of a wheel that turns fast, every so many milliseconds a step. */
const WHEEL_MS = 90;

/**
 * Zooms by Ctrl and the wheel, in place of the webview's own zoom, which is not stored. Returns a function
 * that stops it.
 */
export function zoomByWheel(): () => void {
  let last = 0;
  const receive = (event: WheelEvent) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.type !== "wheel" || event.deltaY === 0 || event.timeStamp - last < WHEEL_MS) return;
    last = event.timeStamp;
    zoom.step(event.deltaY < 0 ? 1 : -1);
  };
  const how = { capture: true, passive: false };
  const kinds = ["wheel", "mousewheel"] as const;
  for (const kind of kinds) window.addEventListener(kind, receive as EventListener, how);
  return () => kinds.forEach((kind) => window.removeEventListener(kind, receive as EventListener, how));
}
