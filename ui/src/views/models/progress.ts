// How far a run is, in words and as a share.
import type { RunInfo } from "$api/bindings";
import { count } from "$words/format";
import { place } from "./charts/series";

/** Passes over the training texts so far. */
function epochsDone(run: RunInfo): number {
  return run.epochs.at(-1)?.epoch ?? 0;
}

/** "epoch 9 of 24", or a description of a run without epochs. */
export function epochsWords(run: RunInfo): string {
  const done = epochsDone(run);
  const of = `${place(done)} of ${count(run.epochs_planned)}`;
  switch (run.state) {
    case "running":
      return run.epochs.length === 0 ? "at work" : `epoch ${of}`;
    case "finished":
      return `epoch ${place(done)}`;
    default:
      return run.epochs.length === 0 ? "before the first evaluation" : `after epoch ${of}`;
  }
}

/** Share of the planned epochs that are done; null if unknown. */
export function epochsShare(run: RunInfo): number | null {
  if (run.epochs.length === 0 || run.epochs_planned === 0) return null;
  return Math.min(1, epochsDone(run) / run.epochs_planned);
}
