// Light or dark, as set or as the system says.
import type { Theme } from "$api/bindings";

/** Puts the theme on the document, and keeps following the system while it is asked to. Returns what stops that. */
export function wearTheme(theme: Theme): () => void {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const wear = () => {
    document.documentElement.dataset.theme = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  };
  wear();
  dark.addEventListener("change", wear);
  return () => dark.removeEventListener("change", wear);
}
