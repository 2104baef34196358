// Controls that write to the project: off, with the reason, where it is open to read.
import { app } from "./app.svelte";
import { t } from "$messages/messages.svelte";

function stop(event: Event): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** For `{@attach writes}`. What disables the control otherwise stays as it is. */
export function writes(control: HTMLElement): (() => void) | void {
  if (!app.readOnly) return;
  const { title } = control;
  control.setAttribute("aria-disabled", "true");
  control.title = t("shell.read_only_writes");
  control.addEventListener("click", stop, true);
  return () => {
    control.removeAttribute("aria-disabled");
    control.title = title;
    control.removeEventListener("click", stop, true);
  };
}
