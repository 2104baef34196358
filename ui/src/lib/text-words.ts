// What there is to say of a text in one or two sentences.
import type { Scale, TextDetail } from "./bindings";
import { counted, decimal, percent, signed } from "./format";
import { levelOf } from "./levels";

/** Below this van der Eijk's coefficient says that answers gather at two places. */
const CAMPS = -0.2;

/** How many judged, how they are spread, and who differs: of labels where there are some, and always said which. */
export function sentences(detail: TextDetail, scale: Scale): string {
  const levels = detail.annotators.flatMap((person) => {
    const level = levelOf(person.observed);
    return level === null ? [] : [level];
  });
  const parts = [given(levels, scale), spread(detail, levels.length)];
  const who = detail.differences.filter((difference) => difference.stands);
  if (scale.kind === "ordinal") {
    parts.push(
      who.length > 0
        ? `${who.map((d) => `${d.value} answer ${signed(d.gap, 1)} levels`).join(", ")} against the others.`
        : `No group stands out; ${percent(detail.scores.between)} of the predicted variance is people's strictness.`,
    );
  }
  return parts.filter(Boolean).join(" ");
}

function given(levels: readonly number[], scale: Scale): string {
  if (levels.length === 0) return "Nobody has labelled this text: all of this is predicted.";
  const counts = scale.levels.map((name, level) => ({
    name,
    count: levels.filter((other) => other === level).length,
  }));
  const said = counts
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => `${count} × ${name}`)
    .join(", ");
  return `${counted(levels.length, "person", "people")} labelled it: ${said}.`;
}

function spread({ scores }: TextDetail, labels: number): string {
  const split = `Over everyone: split ${decimal(scores.split)} of at most 1`;
  if (scores.agreement === null) return `${split}.`;
  if (labels >= 4 && scores.agreement < CAMPS) return `${split}: two camps.`;
  return `${split}, agreement ${decimal(scores.agreement)} (1 one level, 0 all alike, −1 two camps).`;
}
