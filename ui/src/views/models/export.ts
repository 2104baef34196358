// Writing a report of runs: where to is asked of the system.
import { app } from "$stores/app.svelte";
import * as platform from "$platform";

/** Asks for a file, and writes a report of these runs to it; its ending says which kind. */
export async function exportRuns(runs: number[]): Promise<void> {
  const name = [app.project?.name ?? "project", "runs"].join(" ");
  const path = await app.attempt(() => platform.chooseReport(name));
  if (path) await app.outputs.exportRuns(runs, path);
}
