// One or two sentences that summarise a text.
import type {
  DisagreementScores,
  GroupDifference,
  Scale,
  SeverityDifference,
  TextDetail,
} from "$api/bindings";
import { levelOf } from "$kinds/level/levels";
import { t } from "$messages/messages.svelte";
import { confidence, count, decimal, percent, signed } from "./format";

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
    t("texts.between", { share: percent(scores.between) }),
  ];
  return parts.filter(Boolean).join(" ");
}

/** Whether groups were compared on a text: labels on both sides. */
const compared = ({ labels }: GroupDifference) => labels[0] > 0 && labels[1] > 0;

/** Groups with a significant difference, and the strict or lenient; empty if none could be compared. */
function who(differences: readonly GroupDifference[], severity: SeverityDifference | null): string {
  const significant = differences.filter((difference) => difference.significant);
  const parts = severity ? [severityWords(severity)] : [];
  const gaps = significant.map(({ value, gap }) => t("texts.gap", { group: value, gap: signed(gap, 1) }));
  if (gaps.length > 0)
    parts.unshift(t("texts.against_others", { gaps: gaps.join(t("format.list_separator")) }));
  if (parts.length > 0) return parts.join(" ");
  return differences.some(compared) ? t("texts.no_group") : "";
}

/** "the strict" or "the lenient". */
export function sideName(severity: SeverityDifference): string {
  return severity.strict ? t("texts.side_strict") : t("texts.side_lenient");
}

/** How far apart the strict and the lenient are on a text. */
export function severityWords({ strict, gap, interval, labels }: SeverityDifference): string {
  const values = {
    gap: signed(gap, 1),
    confidence: confidence(),
    low: signed(interval[0], 1),
    high: signed(interval[1], 1),
    labels: labels[0],
    others: labels[1],
  };
  return strict ? t("texts.severity_strict", values) : t("texts.severity_lenient", values);
}

function given(levels: readonly number[], scale: Scale): string {
  if (levels.length === 0) return t("texts.unlabelled");
  const counts = scale.levels.map((name, level) => ({
    name,
    given: levels.filter((other) => other === level).length,
  }));
  const answers = counts
    .filter(({ given }) => given > 0)
    .map(({ name, given }) => `${count(given)} × ${name}`)
    .join(t("format.list_separator"));
  return t("texts.labelled", { count: levels.length, answers });
}

function spread(scores: DisagreementScores, labels: number, people: number): string {
  const values = { people, split: decimal(scores.split) };
  return labels >= 4 && scores.agreement !== null && scores.agreement < CAMPS
    ? t("texts.split_camps", values)
    : t("texts.split", values);
}
