// The guideline of the mock: versions in memory, one picture.
import type { GuidelineAgreement, GuidelineWritten, NewGuideline, PictureData } from "$api/bindings";
import type { GuidelineInfo } from "$api/bindings";
import { refuse } from "./refusals";

/** One pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const guideline = {
  versions: [] as GuidelineInfo[],

  write({ body, change, by, after }: NewGuideline): GuidelineWritten {
    const newest = guideline.versions.at(-1);
    if (newest && after !== newest.id)
      refuse("guideline-outdated", [newest.number, newest.by ? ` by ${newest.by}` : ""]);
    const number = guideline.versions.length + 1;
    const at = Date.UTC(2026, 10, 1) + number;
    const written = { id: `guideline-${number}`, number, at, body, change, by };
    guideline.versions = [...guideline.versions, written];
    const notices = body.includes("](http")
      ? ["1 link: they are shown with their address and not opened"]
      : [];
    return { guideline: written, notices };
  },

  agreement(): GuidelineAgreement[] {
    if (guideline.versions.length === 0) return [];
    const figures = [
      { number: null, labels: 412, texts: 96, alpha: 0.31, low: 0.22, high: 0.4, like_these: true },
      { number: 1, labels: 60, texts: 12, alpha: null, low: null, high: null, like_these: false },
    ];
    return [{ question: 1, name: "offensiveness", figures }];
  },

  picture: (name: string): PictureData => ({ name, media_type: "image/png", base64: PIXEL }),
};
