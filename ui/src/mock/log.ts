// The log of the toy world: who did what, newest first, filtered and paged as the real one is.
import type { HistoryEntry, HistoryKind, HistoryPage, HistoryRequest } from "$api/bindings";
import type { World } from "./world";

/** So many entries are in it. */
const LOGGED = 450;
const HOUR = 3_600_000;

function entry(world: World, n: number): HistoryEntry {
  const [person, text] = [world.people[n % world.people.length], world.texts[n % world.texts.length]];
  const kinds: HistoryKind[] = [
    "answer",
    "answer",
    "retraction",
    "flag",
    "note",
    "job",
    "packet",
    "decision",
  ];
  const kind = kinds[n % kinds.length] ?? "answer";
  const what: Partial<Record<HistoryKind, string>> = {
    answer: n % 3 === 0 ? "changed 3 to 4" : "answered 4",
    retraction: "took back 4",
    flag: "flagged",
    note: "wrote a note on the answer",
    job: "importing labels.csv: finished",
    packet: "handed in 120 answers",
    decision: "decided: real difference",
  };
  const about = kind !== "job" && kind !== "packet";
  const at = Date.UTC(2026, 2, 14, 15, 9) - n * HOUR;
  return {
    place: `${at}:0:${n}`,
    at,
    time: `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} +00:00`,
    kind,
    who: kind === "job" ? "" : (person?.name ?? ""),
    annotator: kind === "job" ? null : (person?.id ?? null),
    question: about ? (world.questions[0]?.name ?? null) : null,
    text: about ? (text?.id ?? null) : null,
    text_id: about ? (text?.external_id ?? null) : null,
    snippet: about ? (text?.body ?? null) : null,
    what: what[kind] ?? "",
    note: kind === "note" ? "Irony, I think" : null,
    copy: ["answer", "retraction", "flag", "note"].includes(kind)
      ? n % 5 === 0
        ? `copy of ${person?.name}`
        : "this copy"
      : null,
    wording: null,
    withheld: false,
  };
}

export function history(world: World, request: HistoryRequest): HistoryPage {
  const words = request.words.trim().toLowerCase();
  const all = Array.from({ length: LOGGED }, (_, n) => entry(world, n)).filter(
    (one) =>
      (request.kinds.length === 0 || request.kinds.includes(one.kind)) &&
      (request.annotator === null || one.annotator === request.annotator) &&
      (request.since === null || (one.at ?? 0) >= request.since) &&
      `${request.hide_names ? "" : one.who} ${one.note ?? ""} ${one.text_id ?? ""}`
        .toLowerCase()
        .includes(words),
  );
  const from = request.after === null ? 0 : all.findIndex(({ place }) => place === request.after) + 1;
  const hide = (one: HistoryEntry): HistoryEntry =>
    request.hide_names && one.annotator !== null
      ? { ...one, who: `A${one.annotator}`, annotator: null, copy: one.copy && "this copy" }
      : one;
  return {
    entries: all.slice(from, from + request.limit).map(hide),
    more: all.length > from + request.limit,
  };
}
