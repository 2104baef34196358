// Texts about panels: rules, certainty of a verdict, and members.
import type {
  SavedPanelInfo,
  PanelShare,
  PanelVerdict,
  PanelRequest,
  QuestionId,
  Scale,
} from "$api/bindings";
import { count, counted } from "./format";
import { isOrdered } from "$kinds/kinds";

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
  const all: { value: RuleKind; label: string; hint: string; ordered?: true }[] = [
    { value: "majority", label: "Majority", hint: "The level that most members give; none if two tie" },
    { value: "mean", label: "Mean level", hint: "The level next to the members' mean", ordered: true },
    { value: "median", label: "Median", hint: "The middle answer; of two, the lower", ordered: true },
    { value: "quorum", label: "Quorum", hint: "A number of members at a level or above" },
    { value: "veto", label: "Veto", hint: "One member at a level or above is enough" },
  ];
  return all
    .filter(({ ordered }) => !ordered || isOrdered(scale))
    .map(({ value, label, hint }) => ({ value, label, hint }));
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

/** How sure, in words. */
export function sureWords({ sure, too_little }: Pick<PanelVerdict, "sure" | "too_little">): string {
  if (too_little || sure === null) return "Too few labels";
  if (sure >= 0.95) return "Almost certain";
  if (sure >= 0.8) return "Likely";
  if (sure >= 0.6) return "More likely than not";
  return "Undecided";
}

/** What is not known is a dash. */
export const percent = (p: number | null) => (p === null ? "–" : `${Math.round(100 * p)} %`);

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
  if (members.length > 0)
    return members.length > 3 ? counted(members.length, "person", "people") : members.join(", ");
  const of = shares.map(({ value, share }: PanelShare) => `${percent(share)} ${value}`).join(", ");
  return of ? `${count(size)} drawn: ${of}` : `${count(size)} drawn`;
}
