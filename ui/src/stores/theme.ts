// The light or dark theme, as set or as the system prefers.
import type { Theme } from "$api/bindings";

/** Applies the theme, and follows the system if so set. Returns a function that stops that. */
export function wearTheme(theme: Theme): () => void {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const wear = () => {
    document.documentElement.dataset.theme = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  };
  wear();
  dark.addEventListener("change", wear);
  return () => dark.removeEventListener("change", wear);
}
