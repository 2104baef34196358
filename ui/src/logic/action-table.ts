// All actions that have or can have a key: view, default key, and name.
import { t } from "$messages/messages.svelte";
import type { View } from "./views";

/** Where a key means an action: in one view, or wherever one is. */
export type Scope = "everywhere" | View;

const TABLE = {
  palette: ["everywhere", "Mod+K"],
  "view.findings": ["everywhere", "Mod+1"],
  "view.findings-texts": ["everywhere", null],
  "view.label": ["everywhere", "Mod+2"],
  "view.label-list": ["everywhere", "Mod+F"],
  "view.people": ["everywhere", "Mod+3"],
  "view.people-study": ["everywhere", null],
  "view.models": ["everywhere", "Mod+4"],
  "view.project": ["everywhere", "Mod+5"],
  "tab.next": ["everywhere", "Mod+PageDown"],
  "tab.previous": ["everywhere", "Mod+PageUp"],
  "data.import": ["everywhere", "Mod+I"],
  "data.paste": ["everywhere", null],
  "data.remove-import": ["everywhere", null],
  "data.export": ["everywhere", "Mod+E"],
  "data.report": ["everywhere", null],
  "data.institution": ["everywhere", null],
  "question.add": ["everywhere", null],
  "question.list": ["everywhere", null],
  "disagreement.groups": ["everywhere", null],
  "disagreement.questions": ["everywhere", null],
  "annotators.slips": ["everywhere", null],
  "annotators.plan": ["everywhere", null],
  "people.form": ["everywhere", null],
  "guideline.write": ["everywhere", null],
  "study.remarks": ["everywhere", null],
  "study.practice": ["everywhere", null],
  "study.checks": ["everywhere", null],
  "study.log": ["everywhere", null],
  "study.settings": ["everywhere", null],
  "study.plan": ["everywhere", null],
  "study.invite": ["everywhere", null],
  "study.take-in": ["everywhere", null],
  "study.watch": ["everywhere", null],
  "study.hand-in": ["everywhere", null],
  "study.hand-in-encrypted": ["everywhere", null],
  "project.new": ["everywhere", "Mod+N"],
  "project.open": ["everywhere", "Mod+O"],
  "project.open-to-read": ["everywhere", "Mod+Shift+R"],
  "project.to-write": ["everywhere", null],
  "project.sample": ["everywhere", null],
  "project.copy": ["everywhere", "Mod+Shift+S"],
  "project.copy-encrypted": ["everywhere", null],
  "project.backups": ["everywhere", null],
  "project.close": ["everywhere", null],
  "encoder.get": ["everywhere", null],
  "encoder.compare": ["everywhere", null],
  "app.stop": ["everywhere", "Mod+D"],
  "app.care": ["everywhere", null],
  "app.settings": ["everywhere", "Mod+,"],
  "app.keys": ["everywhere", "?"],
  "app.guide": ["everywhere", null],
  "app.tour": ["everywhere", null],
  "app.update": ["everywhere", null],
  "app.diagnostics": ["everywhere", null],
  "theme.light": ["everywhere", null],
  "theme.dark": ["everywhere", null],
  "theme.system": ["everywhere", null],
  "zoom.in": ["everywhere", "Mod++"],
  "zoom.out": ["everywhere", "Mod+-"],
  "zoom.reset": ["everywhere", "Mod+0"],
  "app.quit": ["everywhere", "Mod+Q"],
  "label.undo": ["label", "U"],
  "label.skip": ["label", "S"],
  "label.flag": ["label", "F"],
  "label.note": ["label", "N"],
  "label.cannot-say": ["label", "X"],
  "label.help": ["label", "H"],
  "label.guideline": ["label", "G"],
  "label.look": ["label", "B"],
  "texts.search": ["label-list", "/"],
  "texts.filter": ["label-list", "F"],
  "texts.disagreement": ["label-list", "D"],
  "texts.remove": ["label-list", null],
  "disagreement.refresh": ["findings-texts", "R"],
  "disagreement.search": ["findings-texts", "/"],
  "models.new": ["models", "N"],
} as const satisfies Record<string, readonly [Scope, string | null]>;

export type ActionId = keyof typeof TABLE;

type Underscored<S extends string> = S extends `${infer A}.${infer B}`
  ? Underscored<`${A}_${B}`>
  : S extends `${infer A}-${infer B}`
    ? Underscored<`${A}_${B}`>
    : S;

/** An action in the keys of messages: "view_findings_texts". */
export function inKeys(id: ActionId): Underscored<ActionId> {
  return id.replaceAll(/[.-]/g, "_") as Underscored<ActionId>;
}

export interface Named {
  id: ActionId;
  /** In the language in use. */
  readonly name: string;
  scope: Scope;
  /** Its default key; optional. */
  key: string | null;
  /** Its key is pressed without Ctrl. */
  alone: boolean;
}

/** In the order in which they are listed. */
export const NAMED: readonly Named[] = (Object.keys(TABLE) as ActionId[]).map((id) => {
  const [scope, key] = TABLE[id];
  return {
    id,
    get name() {
      return t(`actions.name_${inKeys(id)}`);
    },
    scope,
    key,
    alone: key !== null && !key.startsWith("Mod+"),
  };
});

const BY_ID: ReadonlyMap<ActionId, Named> = new Map(NAMED.map((named) => [named.id, named]));

export function named(id: ActionId): Named {
  const found = BY_ID.get(id);
  if (!found) throw new Error(`there is no action ${id}`);
  return found;
}

/** Whether both views can be on screen at once, so that they cannot share a key. */
export function overlap(a: Scope, b: Scope): boolean {
  return a === b || a === "everywhere" || b === "everywhere";
}
