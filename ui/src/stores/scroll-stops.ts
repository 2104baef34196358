// What scrolls can be scrolled by keys: where nothing in it takes the focus, it does itself.

const CONTROLS =
  'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"]), [contenteditable="true"]';
const AREAS = ".scroll, .overflow-auto, .overflow-y-auto";
/** Marks the stops that were added here. */
const ADDED = "data-scroll-stop";
/** After so long without a change, in milliseconds. */
const QUIET = 100;

function isStop(area: HTMLElement): boolean {
  const hidden = area.scrollHeight > area.clientHeight + 1 || area.scrollWidth > area.clientWidth + 1;
  return hidden && ![...area.querySelectorAll(CONTROLS)].some((one) => !one.matches(":disabled"));
}

/** Makes stops of the keyboard of all areas that need it, and ends those that no longer do. */
export function markScrollStops(): void {
  for (const area of document.querySelectorAll<HTMLElement>(AREAS)) {
    const added = area.hasAttribute(ADDED);
    if (!added && area.hasAttribute("tabindex")) continue;
    const stop = isStop(area);
    if (stop === added) continue;
    area.toggleAttribute(ADDED, stop);
    if (stop) area.tabIndex = 0;
    // The focus stays where it is.
    else if (area === document.activeElement)
      area.addEventListener("blur", () => area.removeAttribute("tabindex"), { once: true });
    else area.removeAttribute("tabindex");
  }
}

/** Does so after every change of the page, until the returned function is called. */
export function followScrollStops(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(markScrollStops, QUIET);
  };
  const changes = new MutationObserver(soon);
  const attributeFilter = ["class", "style", "open", "hidden"];
  changes.observe(document.body, { childList: true, subtree: true, characterData: true, attributeFilter });
  window.addEventListener("resize", soon);
  soon();
  return () => {
    clearTimeout(timer);
    changes.disconnect();
    window.removeEventListener("resize", soon);
  };
}
