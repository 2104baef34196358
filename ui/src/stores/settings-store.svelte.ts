// The settings of the application: shown at once, confirmed when stored.
import { commands } from "$bindings";
import type { AppSettings } from "$api/bindings";
import { asProblem } from "$words/problems";

const FIRST: AppSettings = {
  theme: "system",
  language: null,
  blur: false,
  greyscale: false,
  break_minutes: 0,
  random_share: 0.2,
  text_size: 22,
  letter_keys: true,
  snap_to_words: true,
  check_updates: false,
};

export class SettingsStore {
  now = $state<AppSettings>(FIRST);
  /** How many are on their way to the disk, and the last that arrived. */
  #saving = 0;
  #kept: AppSettings = FIRST;

  /** `warn` shows a problem after which the settings apply nevertheless. */
  constructor(
    private readonly attempt: (work: () => Promise<null>) => Promise<null | undefined>,
    private readonly warn: (problem: unknown) => void,
  ) {}

  async load(): Promise<void> {
    this.now = await commands.settings();
  }

  async save(settings: AppSettings): Promise<void> {
    if (this.#saving === 0) this.#kept = this.now;
    this.#saving++;
    this.now = settings;
    const result = await this.attempt(async () => {
      try {
        return await commands.saveSettings(settings);
      } catch (thrown) {
        // A disk that cannot be written: they apply until the application ends.
        if (asProblem(thrown).code !== "settings-not-stored") throw thrown;
        this.warn(thrown);
        return null;
      }
    });
    if (result !== undefined) this.#kept = settings;
    // The newest value is shown until all answers are in; then the stored one.
    if (--this.#saving === 0) this.now = this.#kept;
  }
}
