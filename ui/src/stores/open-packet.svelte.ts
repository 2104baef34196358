// The open packet, and what of it was handed in.
import { commands } from "$bindings";
import type { OpenPacket } from "$api/bindings";
import { locale } from "$messages/messages.svelte";
import { app } from "./app.svelte";

/** Follows the packet while a component shows it; `now` is null before the first answer, and without one. */
export function followPacket(): { readonly now: OpenPacket | null } {
  let now = $state.raw<OpenPacket | null>(null);
  $effect(() => {
    // Asked again whenever the project was: after an answer, and after handing in.
    void [app.project, app.changes];
    let gone = false;
    commands.openPacket().then(
      (found) => gone || (now = found),
      (thrown: unknown) => app.toasts.problem(thrown),
    );
    return () => (gone = true);
  });
  return {
    get now() {
      return now;
    },
  };
}

/** A time as annotators read it. */
export const dayAndTime = (at_ms: number): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(at_ms);
