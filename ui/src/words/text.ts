// One or two sentences that summarise a text.
import type {
  DisagreementScores,
  GroupDifference,
  Scale,
  SeverityDifference,
  TextDetail,
} from "$api/bindings";
import { CONFIDENCE, count, counted, decimal, percent, signed } from "./format";
import { levelOf } from "$kinds/level/levels";

/** Below this, van der Eijk's coefficient indicates two modes. */
const CAMPS = -0.2;

/** The number of annotators, their spread, and who differs. Without scores, only the labels. */
export function sentences(detail: TextDetail, scale: Scale): string {
  const levels = detail.annotators.flatMap((person) => {
    const level = levelOf(person.observed, scale);
    return level === null ? [] : [level];
  });
  const { scores, differences } = detail;
  if (scores === null) return levels.length === 0 ? "" : given(levels, scale);
  const parts = [
    given(levels, scale),
    spread(scores, levels.length, detail.annotators.length),
    who(differences, detail.severity),
    between(scores.between),
  ];
  return parts.filter(Boolean).join(" ");
}

/** Whether groups were compared on a text: labels on both sides. */
const compared = ({ labels }: GroupDifference) => labels[0] > 0 && labels[1] > 0;

/** Groups with a significant difference, and the strict or lenient; empty if none could be compared. */
function who(differences: readonly GroupDifference[], severity: SeverityDifference | null): string {
  const significant = differences.filter((difference) => difference.significant);
  const parts = severity ? [severityWords(severity)] : [];
  if (significant.length > 0)
    parts.unshift(
      `${significant.map((d) => `${d.value} answer ${signed(d.gap, 1)} levels`).join(", ")} against the others.`,
    );
  if (parts.length > 0) return parts.join(" ");
  return differences.some(compared) ? "No group differs clearly." : "";
}

/** "the strict" or "the lenient". */
export function sideName(severity: SeverityDifference): string {
  return severity.strict ? "the strict" : "the lenient";
}

/** How far apart the strict and the lenient are on a text. */
export function severityWords({ strict, gap, interval, labels }: SeverityDifference): string {
  const [side, other] = strict ? ["The strict", "the lenient"] : ["The lenient", "the strict"];
  const ends = `${CONFIDENCE} interval ${signed(interval[0], 1)} to ${signed(interval[1], 1)}`;
  return `${side} half of the people answers ${signed(gap, 1)} levels against ${other} half (${ends}; ${labels[0]} and ${labels[1]} labels): severity explains the answers here.`;
}

/** The share of the predicted variance that is between people. */
function between(share: number | null): string {
  return `${percent(share)} of the expected spread is between people.`;
}

function given(levels: readonly number[], scale: Scale): string {
  if (levels.length === 0) return "Nobody has labelled this text: all figures are predictions.";
  const counts = scale.levels.map((name, level) => ({
    name,
    given: levels.filter((other) => other === level).length,
  }));
  const parts = counts
    .filter(({ given }) => given > 0)
    .map(({ name, given }) => `${given} × ${name}`)
    .join(", ");
  return `${counted(levels.length, "person", "people")} labelled it: ${parts}.`;
}

function spread(scores: DisagreementScores, labels: number, people: number): string {
  const split = `If all ${count(people)} answered: split ${decimal(scores.split)} (0 none, 1 half at each end)`;
  return labels >= 4 && scores.agreement !== null && scores.agreement < CAMPS
    ? `${split}, in two camps.`
    : `${split}.`;
}
