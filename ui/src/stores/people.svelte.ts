// People: correcting names and attributes, and erasing a person who withdraws.
import { commands } from "$bindings";
import type { AnnotatorId, AnnotatorInfo, Withdrawn } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { forget } from "$logic/study-plan";
import type { Toasts } from "./toasts.svelte";

/** What it needs of the window around it. */
interface Host {
  readonly toasts: Toasts;
  readonly project: { readonly path: string } | null;
  readonly people: readonly AnnotatorInfo[];
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
  reopening<T>(work: () => Promise<T>): Promise<T | undefined>;
  refresh(): Promise<void>;
}

type Attributes = Readonly<Record<string, string>>;

/** An attribute as it is edited: a name and a value. */
export interface AttributeLine {
  name: string;
  value: string;
}

/** The attributes to set and to delete so that exactly these lines remain. */
export function attributeChanges(
  before: Attributes,
  lines: readonly AttributeLine[],
): { set: Record<string, string>; unset: string[] } {
  const now = new Map(lines.map(({ name, value }) => [name.trim(), value.trim()]));
  const set = Object.fromEntries([...now].filter(([name, value]) => before[name] !== value));
  return { set, unset: Object.keys(before).filter((name) => !now.has(name)) };
}

/** What is wrong with these lines, in words; null where nothing is. */
export function attributeProblem(lines: readonly AttributeLine[]): string | null {
  if (lines.some(({ name, value }) => name.trim() === "" || value.trim() === ""))
    return t("annotators.attribute_incomplete");
  const names = lines.map(({ name }) => name.trim());
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  return twice === undefined ? null : t("annotators.attribute_twice", { name: twice });
}

export class PeopleStore {
  constructor(private readonly host: Host) {}

  /** Corrects the name, if given, and attributes. False if refused: then nothing is changed. */
  async change(
    person: AnnotatorId,
    name: string | null,
    lines: readonly AttributeLine[],
    before: Attributes,
  ) {
    const { set, unset } = attributeChanges(before, lines);
    const done = await this.host.attempt(async () => {
      await commands.changeAnnotator(person, name, set, unset);
      return true;
    });
    await this.host.refresh();
    return done ?? false;
  }

  /** Erases a person. The project is closed and opened again. */
  async withdraw(person: AnnotatorId): Promise<boolean> {
    const path = this.host.project?.path;
    const known = this.host.people.find(({ id }) => id === person);
    const gone = await this.host.reopening(() => commands.withdraw(person));
    if (!gone) return false;
    // A plan that was entered names people.
    if (path !== undefined) forget(path);
    if (known) forgetNames([known.name, known.external_id]);
    this.host.toasts.done(t("annotators.erased"), erasedWords(gone));
    return true;
  }
}

/** Forgets the stored name of the last author, if that person is erased. */
function forgetNames(names: readonly string[]): void {
  for (const key of Object.keys(localStorage))
    if (names.includes(localStorage.getItem(key) ?? "")) localStorage.removeItem(key);
}

/** The report after a person was erased. */
export function erasedWords(gone: Withdrawn): string {
  const words: string[] = [
    t("annotators.erased_what", {
      answers: t("counts.answers", { count: gone.answers }),
      packets: t("counts.packets", { count: gone.packets }),
      runs: t("annotators.training_runs", { count: gone.runs }),
    }),
  ];
  if (gone.encoder_changed) words.push(t("annotators.erased_encoder"));
  if (!gone.cleaned) words.push(t("annotators.erased_traces"));
  if (gone.copies.length > 0)
    words.push(t("annotators.erased_copies", { paths: gone.copies.join(t("format.list_separator")) }));
  return words.join("\n");
}
