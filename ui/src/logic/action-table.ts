// All actions that have or can have a key: name, view, and default key.
import type { View } from "./views";

/** Where a key means an action: in one view, or wherever one is. */
export type Scope = "everywhere" | View;

const TABLE = {
  palette: ["Search and commands", "everywhere", "Mod+K"],
  "view.findings": ["Findings", "everywhere", "Mod+1"],
  "view.findings-texts": ["Findings: texts", "everywhere", null],
  "view.label": ["Label", "everywhere", "Mod+2"],
  "view.label-list": ["Label: list of texts", "everywhere", "Mod+F"],
  "view.people": ["People", "everywhere", "Mod+3"],
  "view.people-study": ["People: study", "everywhere", null],
  "view.models": ["Models", "everywhere", "Mod+4"],
  "view.project": ["Project", "everywhere", "Mod+5"],
  "tab.next": ["Next tab", "everywhere", "Mod+PageDown"],
  "tab.previous": ["Previous tab", "everywhere", "Mod+PageUp"],
  "data.import": ["Import texts or labels…", "everywhere", "Mod+I"],
  "data.paste": ["Paste texts or labels…", "everywhere", null],
  "data.remove-import": ["Remove the last import…", "everywhere", null],
  "data.export": ["Export labels or predictions…", "everywhere", "Mod+E"],
  "data.report": ["Report for a paper…", "everywhere", null],
  "question.add": ["Add a question…", "everywhere", null],
  "question.list": ["Choose and change questions…", "everywhere", null],
  "disagreement.groups": ["Compare groups", "everywhere", null],
  "disagreement.questions": ["Correlate questions", "everywhere", null],
  "annotators.slips": ["Unusual labels…", "everywhere", null],
  "annotators.plan": ["How many labels are needed…", "everywhere", null],
  "people.form": ["Questions about annotators…", "everywhere", null],
  "guideline.write": ["Write the guideline…", "everywhere", null],
  "study.remarks": ["Notes and flags…", "everywhere", null],
  "study.practice": ["Practice…", "everywhere", null],
  "study.checks": ["Attention checks…", "everywhere", null],
  "study.log": ["Log…", "everywhere", null],
  "study.settings": ["What annotators see…", "everywhere", null],
  "study.plan": ["Plan a study…", "everywhere", null],
  "study.invite": ["Invite people…", "everywhere", null],
  "study.take-in": ["Merge submissions…", "everywhere", null],
  "study.watch": ["Watch a folder for submissions…", "everywhere", null],
  "study.hand-in": ["Hand in…", "everywhere", null],
  "project.new": ["New project…", "everywhere", "Mod+N"],
  "project.open": ["Open a project…", "everywhere", "Mod+O"],
  "project.open-to-read": ["Open a project read-only…", "everywhere", "Mod+Shift+R"],
  "project.to-write": ["Open this project to write", "everywhere", null],
  "project.sample": ["Open sample project", "everywhere", null],
  "project.copy": ["Save a copy…", "everywhere", "Mod+Shift+S"],
  "project.close": ["Close project", "everywhere", null],
  "encoder.get": ["Encoder…", "everywhere", null],
  "encoder.compare": ["Compare encoders…", "everywhere", null],
  "app.stop": ["Stop here", "everywhere", "Mod+D"],
  "app.care": ["Care: limits, topics, breaks…", "everywhere", null],
  "app.settings": ["Settings", "everywhere", "Mod+,"],
  "app.keys": ["Keyboard shortcuts", "everywhere", "?"],
  "app.guide": ["User guide", "everywhere", null],
  "app.diagnostics": ["Copy diagnostics", "everywhere", null],
  "theme.light": ["Light theme", "everywhere", null],
  "theme.dark": ["Dark theme", "everywhere", null],
  "theme.system": ["Match system theme", "everywhere", null],
  "zoom.in": ["Larger", "everywhere", "Mod++"],
  "zoom.out": ["Smaller", "everywhere", "Mod+-"],
  "zoom.reset": ["Actual size", "everywhere", "Mod+0"],
  "app.quit": ["Quit", "everywhere", "Mod+Q"],
  "label.undo": ["Undo the last label", "label", "U"],
  "label.skip": ["Skip the text", "label", "S"],
  "label.flag": ["Flag the text", "label", "F"],
  "label.note": ["Write a note", "label", "N"],
  "label.cannot-say": ["Cannot say", "label", "X"],
  "label.help": ["Help, and what the levels mean", "label", "H"],
  "label.guideline": ["Show or hide the guideline", "label", "G"],
  "label.look": ["Unblur the text (hold)", "label", "B"],
  "texts.search": ["Search texts and ids", "label-list", "/"],
  "texts.filter": ["Next filter", "label-list", "F"],
  "texts.disagreement": ["Show the text in Findings", "label-list", "D"],
  "texts.remove": ["Remove a text added by mistake…", "label-list", null],
  "disagreement.refresh": ["Refresh the ranking", "findings-texts", "R"],
  "disagreement.search": ["Search the texts", "findings-texts", "/"],
  "models.new": ["New run…", "models", "N"],
} as const satisfies Record<string, readonly [string, Scope, string | null]>;

export type ActionId = keyof typeof TABLE;

export interface Named {
  id: ActionId;
  name: string;
  scope: Scope;
  /** Its default key; optional. */
  key: string | null;
  /** Its key is pressed without Ctrl. */
  alone: boolean;
}

/** In the order in which they are listed. */
export const NAMED: readonly Named[] = (Object.keys(TABLE) as ActionId[]).map((id) => {
  const [name, scope, key] = TABLE[id];
  return { id, name, scope, key, alone: key !== null && !key.startsWith("Mod+") };
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
