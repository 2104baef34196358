// Texts about panels: rules, certainty of a verdict, and members.
import type {
  SavedPanelInfo,
  PanelInfo,
  PanelShare,
  PanelVerdict,
  PanelRequest,
  QuestionId,
  Scale,
} from "$api/bindings";
import { percent } from "./format";
import { isOrdered } from "$kinds/kinds";
import { t } from "$messages/messages.svelte";

type RuleKind = "majority" | "mean" | "median" | "veto" | "quorum";

/** A rule as the form has it. */
export interface Rule {
  kind: RuleKind;
  /** Members that a quorum needs, or a share of them such as 0.5. */
  needed: string;
  /** The level of a veto or quorum, by name. */
  level: string | null;
}

/** The rules that a scale has. */
export function rulesOf(scale: Scale): { value: RuleKind; label: string; hint: string }[] {
  const all: { value: RuleKind; ordered?: true }[] = [
    { value: "majority" },
    { value: "mean", ordered: true },
    { value: "median", ordered: true },
    { value: "quorum" },
    { value: "veto" },
  ];
  return all
    .filter(({ ordered }) => !ordered || isOrdered(scale))
    .map(({ value }) => ({ value, label: t(`panels.rule_${value}`), hint: t(`panels.rule_${value}_what`) }));
}

/** As the program reads it. */
export function formatRule({ kind, needed, level }: Rule): string {
  if (kind === "veto") return level === null ? "veto" : `veto:${level}`;
  if (kind !== "quorum") return kind;
  return level === null ? `quorum:${needed.trim()}` : `quorum:${needed.trim()}@${level}`;
}

/** A rule that the program wrote. */
export function parseRule(rule: string): Rule {
  const colon = rule.indexOf(":");
  const kind = (colon < 0 ? rule : rule.slice(0, colon)) as RuleKind;
  const rest = colon < 0 ? "" : rule.slice(colon + 1);
  if (kind === "veto") return { kind, needed: "0.5", level: rest || null };
  if (kind !== "quorum") return { kind, needed: "0.5", level: null };
  const at = rest.indexOf("@");
  return { kind, needed: at < 0 ? rest : rest.slice(0, at), level: at < 0 ? null : rest.slice(at + 1) };
}

/** The possible verdicts, in the order of their probabilities: levels by name, and what the rule adds. */
export function verdictNames({ rule, outcomes }: PanelInfo): string[] {
  const { kind } = parseRule(rule);
  if (kind === "veto") return [t("panels.verdict_passed"), t("panels.verdict_vetoed")];
  if (kind === "quorum") return [t("panels.verdict_not_reached"), t("panels.verdict_reached")];
  return kind === "majority" ? [...outcomes.slice(0, -1), t("panels.verdict_no_majority")] : outcomes;
}

/** How sure, in words. */
export function sureWords({ sure, too_little }: Pick<PanelVerdict, "sure" | "too_little">): string {
  if (too_little || sure === null) return t("panels.sure_unknown");
  if (sure >= 0.95) return t("panels.sure_certain");
  if (sure >= 0.8) return t("panels.sure_likely");
  if (sure >= 0.6) return t("panels.sure_rather");
  return t("panels.sure_open");
}

/** The request of a saved panel. */
export function requestOf(kept: SavedPanelInfo, question: QuestionId, draws: number): PanelRequest {
  const { members, size, shares, seed, rule } = kept;
  return { question, members, size, shares, seed, rule, draws };
}

/** Who sits on a panel, in few words. */
export function membersWords({
  members,
  size,
  shares,
}: Pick<PanelRequest, "members" | "size" | "shares">): string {
  const between = t("format.list_separator");
  if (members.length > 0)
    return members.length > 3 ? t("counts.people", { count: members.length }) : members.join(between);
  const words = ({ value, share }: PanelShare) => t("panels.share", { share: percent(share), value });
  return shares.length > 0
    ? t("panels.drawn_shares", { count: size, shares: shares.map(words).join(between) })
    : t("panels.drawn", { count: size });
}
