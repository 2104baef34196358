// Writes a report of runs to a chosen file.
import { app } from "$stores/app.svelte";
import * as platform from "$platform";

/** Chooses a file and writes a report of these runs to it; its extension sets the format. */
export async function exportRuns(runs: number[]): Promise<void> {
  const name = [app.project?.name ?? "project", "runs"].join(" ");
  const path = await app.attempt(() => platform.chooseReport(name));
  if (path) await app.outputs.exportRuns(runs, path);
}
