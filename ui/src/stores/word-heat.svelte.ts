// What heat of words was chosen last, for all texts and questions until the window is closed.
import type { HeatBy } from "$logic/word-heat";

class HeatChoice {
  /** Null until a choice is made. */
  by = $state<HeatBy | null>(null);
}

export const heatChoice = new HeatChoice();
