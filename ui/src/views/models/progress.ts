// How far a run is, in words and as a share.
import type { RunInfo } from "$api/bindings";
import { t } from "$messages/messages.svelte";

/** Passes over the training texts so far. */
function epochsDone(run: RunInfo): number {
  return run.epochs.at(-1)?.epoch ?? 0;
}

/** "epoch 9 of 24", or a description of a run without epochs. */
export function epochsWords(run: RunInfo): string {
  const epochs = { done: epochsDone(run), planned: run.epochs_planned };
  switch (run.state) {
    case "running":
      return run.epochs.length === 0 ? t("models.at_work") : t("models.epoch_of", epochs);
    case "finished":
      return t("models.x_epoch", { x: epochs.done });
    default:
      return run.epochs.length === 0 ? t("models.before_first") : t("models.after_epoch", epochs);
  }
}

/** "It was cancelled after epoch 9 of 24." */
export function stoppedWords(run: RunInfo): string {
  const how = run.state === "interrupted" ? "interrupted" : "cancelled";
  if (run.epochs.length === 0) return t(`models.${how}_before`);
  return t(`models.${how}_after`, { done: epochsDone(run), planned: run.epochs_planned });
}

/** Share of the planned epochs that are done; null if unknown. */
export function epochsShare(run: RunInfo): number | null {
  if (run.epochs.length === 0 || run.epochs_planned === 0) return null;
  return Math.min(1, epochsDone(run) / run.epochs_planned);
}
