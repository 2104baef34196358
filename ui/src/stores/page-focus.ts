// The keyboard never loses its focus: where a control disappears that had it, its surroundings take it.

/** Marks what took the focus because the control that had it is gone. */
const HELD = "data-focus-held";

/** Whether the page has the focus rather than one of its controls: keys then belong to the view. */
export function isPage(element: EventTarget | null): boolean {
  return element === document.body || (element instanceof Element && element.matches(`main, [${HELD}]`));
}

/** Focuses the view on screen, unless something in it has the focus already. */
export function focusView(): void {
  if (document.activeElement === document.body)
    document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
}

/**
 * Follows the focus until the returned function is called. What takes it is no control, so that a key that
 * was meant for the lost one presses nothing, and Tab goes on from there.
 */
export function holdFocus(): () => void {
  let last: Element | null = null;
  let around: Element[] = [];

  function remember(event: FocusEvent) {
    if (!(event.target instanceof Element) || event.target === last) return;
    last = event.target;
    around = [];
    for (let one = last.parentElement; one; one = one.parentElement) around.push(one);
  }

  /** Once the components, which know better where to go on, have had their turn. */
  function look() {
    if (!last || last.isConnected || document.activeElement !== document.body) return;
    last = null;
    const left = around.find((one) => one.isConnected);
    if (!(left instanceof HTMLElement) || left.contains(document.querySelector("main"))) return focusView();
    if (!left.hasAttribute("tabindex")) {
      left.tabIndex = -1;
      left.setAttribute(HELD, "");
      const release = () => {
        left.removeAttribute("tabindex");
        left.removeAttribute(HELD);
      };
      left.addEventListener("blur", release, { once: true });
    }
    left.focus({ preventScroll: true });
  }

  const changes = new MutationObserver(() => {
    if (last && !last.isConnected) setTimeout(look);
  });
  document.addEventListener("focusin", remember);
  changes.observe(document.body, { childList: true, subtree: true });
  return () => {
    document.removeEventListener("focusin", remember);
    changes.disconnect();
  };
}
