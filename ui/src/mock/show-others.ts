// For tests: turns on or off that others' views are shown after an answer, as the study's page does.
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";

export async function showOthers(on: boolean): Promise<void> {
  await commands.setReveal(on);
  await app.refresh();
}
