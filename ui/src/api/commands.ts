// The commands and events of the program, with its sentences in the language of the window.
import * as program from "$backend";
import { isTranslated, ofProgram } from "$messages/program/program";

type Fields = Readonly<Record<string, unknown>>;

export { TRAINING_SETTINGS } from "$backend";

const always = () => true;
/** Members of answers and events that hold sentences of the program, and where they do. */
const SENTENCES: Readonly<Record<string, (of: Fields) => boolean>> = {
  about: always,
  agreement_words: always,
  attributes_words: always,
  backup_notice: always,
  basis: always,
  contested_words: always,
  copy: (of) => "what" in of,
  correction: always,
  detail: (of) => "code" in of,
  device_reason: always,
  doing: always,
  fix_label: always,
  group_slopes: always,
  held_out_note: always,
  journal_notice: always,
  left_blank: always,
  limit_texts: always,
  message: always,
  managed: always,
  needs: always,
  network_notice: always,
  not_converged: always,
  // Elsewhere it is what a person wrote.
  note: (of) => "state" in of && "title" in of,
  // Those of a new version are not the program's own words.
  notes: (of) => !("page" in of),
  notices: always,
  overall_words: always,
  readable_notice: always,
  // Elsewhere those of a question.
  reasons: (of) => "confidence" in of && "title" in of,
  remark: always,
  remarks: always,
  sentence: always,
  settings_notice: always,
  severities_words: always,
  shares_words: always,
  simulated_notice: always,
  slips_words: always,
  stays: always,
  sync_notice: always,
  texts_words: always,
  // That of a job is a file, or what is worked on.
  title: (of) => !("state" in of),
  // What somebody did; elsewhere a kind of thing.
  what: (of) => "place" in of,
  // Of an attribute, a pattern or a use; elsewhere words of a text or of a search.
  words: (of) => "gap" in of || "kind" in of || "labels" in of || "uses" in of,
};

/** Members whose keys and values are those of users, unless they are lists. */
const AS_IT_IS = ["attributes", "fields"];

/** The same value, with the sentences of the program translated. */
export function translated(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(translated);
  if (typeof value !== "object" || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const of = value as Fields;
  return Object.fromEntries(Object.entries(of).map(([name, member]) => [name, memberOf(of, name, member)]));
}

function memberOf(of: Fields, name: string, member: unknown): unknown {
  if (AS_IT_IS.includes(name) && !Array.isArray(member)) return member;
  return Object.hasOwn(SENTENCES, name) && SENTENCES[name]?.(of) ? sentences(member) : translated(member);
}

function sentences(member: unknown): unknown {
  if (typeof member === "string") return ofProgram(member);
  if (Array.isArray(member))
    return member.map((one) => (typeof one === "string" ? ofProgram(one) : translated(one)));
  return translated(member);
}

const inWindow = <T>(value: T): T => (isTranslated() ? (translated(value) as T) : value);

type Command = (...values: never[]) => Promise<unknown>;

/** The command, with its answer or its problem in the language of the window. */
export function speaking(command: Command): Command {
  return async (...values) => {
    try {
      return inWindow(await command(...values));
    } catch (thrown) {
      throw inWindow(thrown);
    }
  };
}

// In place, because commands of the mock call one another.
for (const [name, command] of Object.entries(program.commands))
  Object.assign(program.commands, { [name]: speaking(command as Command) });

/** The commands of the program. */
export const commands = program.commands;

interface Listening {
  listen: (heard: (event: { payload: unknown }) => void) => Promise<() => void>;
}

/** The events of the program. */
export const events = Object.fromEntries(
  Object.entries(program.events).map(([name, event]) => {
    const listen: Listening["listen"] = (heard) =>
      (event as unknown as Listening).listen((one) => heard({ ...one, payload: inWindow(one.payload) }));
    return [name, Object.assign(Object.create(event) as object, { listen })];
  }),
) as unknown as typeof program.events;
