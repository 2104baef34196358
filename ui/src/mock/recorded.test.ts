// The invented project answers in the form of the real one. Recordings: src-tauri/tests/recordings.rs.
import { readdirSync, readFileSync } from "node:fs";
import { beforeEach, expect, it } from "vitest";
import { commands, reset } from "./bindings";

interface Entry {
  arguments: unknown[];
  answer?: unknown;
  problem?: { code: string; message: string };
}

const FOLDER = "src/mock/recorded";
const recorded = new Map(
  readdirSync(FOLDER).map((file) => [
    file.replace(".json", ""),
    JSON.parse(readFileSync(`${FOLDER}/${file}`, "utf8")) as Entry[],
  ]),
);

/** Objects whose keys are data. */
const FREE = ["attributes"];

/** Every path of an answer with its fields: `kind` tells the forms of a union apart. */
function fields(value: unknown, path: string, found: Map<string, Set<string>>): Map<string, Set<string>> {
  const add = (what: string) => found.set(path, (found.get(path) ?? new Set()).add(what));
  if (Array.isArray(value)) value.forEach((item) => fields(item, `${path}[]`, found));
  else if (typeof value === "object" && value !== null) {
    const { kind } = value as { kind?: unknown };
    const form = typeof kind === "string" ? `${path}<${kind}>` : path;
    const names = Object.keys(value).toSorted();
    found.set(form, (found.get(form) ?? new Set()).add(`{${names.join(", ")}}`));
    for (const [name, part] of Object.entries(value))
      if (!FREE.includes(name)) fields(part, `${form}.${name}`, found);
  } else if (value !== null && value !== undefined) add(typeof value);
  return found;
}

/** Where both say something, and not the same. */
function differences(real: unknown[], mock: unknown[]): string[] {
  const [a, b] = [real, mock].map((values) =>
    values.reduce<Map<string, Set<string>>>((found, value) => fields(value, "", found), new Map()),
  );
  return [...(a ?? [])].flatMap(([path, forms]) => {
    const other = b?.get(path);
    const [left, right] = [forms, other ?? forms].map((set) => [...set].toSorted().join(" | "));
    return left === right ? [] : [`${path}: recorded ${left}, mock ${right}`];
  });
}

const call = (name: string, given: unknown[]) =>
  (commands as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[name]?.(...given);

beforeEach(async () => {
  reset();
  await commands.openSample();
});

/** Commands without a recording, by the reason. Each list may only shrink. */
const UNRECORDED = {
  writes: [
    "encryptedFiles",
    "decryptedPath",
    "decryptFile",
    "unlockFiles",
    "lockFiles",
    "saveCopy",
    "backUp",
    "restoreBackup",
    "deleteBackup",
    "forgetRecent",
    "saveSettings",
    "setStudyCare",
    "setOwnCare",
    "readText",
    "goOnToday",
    "setReveal",
    "setConsent",
    "agree",
    "setLanguage",
    "newProject",
    "openProject",
    "openProjectToRead",
    "openSample",
    "closeProject",
    "addQuestion",
    "changeQuestion",
    "setAttributeForm",
    "answerForm",
    "addAnnotator",
    "addNewAnnotator",
    "changeAnnotator",
    "remove",
    "withdraw",
    "saveChoices",
    "pasteRows",
    "forgetPasted",
    "forgetOpened",
    "importFile",
    "exportForProgram",
    "exportPredictions",
    "exportSummary",
    "exportProject",
    "writeReport",
    "writeInstitutionPapers",
    "recordLabel",
    "recordAgain",
    "saveNote",
    "saveDraft",
    "writeGuideline",
    "decide",
    "recordPractice",
    "setPracticeText",
    "setPracticeRule",
    "setCheckRule",
    "setAttentionCheck",
    "savePanel",
    "forgetPanel",
    "handIn",
    "undoLabel",
    "skipText",
    "flagText",
    "handOut",
    "setMasks",
    "writePacketsAgain",
    "mergeFiles",
    "collectFolder",
    "unlockFolder",
    "invite",
    "stopInviting",
    "saveLinks",
    "deleteRun",
    "exportRuns",
  ],
  "needs a model or an encoder": [
    "useEncoder",
    "downloadEncoder",
    "cancelDownload",
    "encodersHere",
    "tryEncoders",
    "measureLongTexts",
    "askPanel",
    "panelOnText",
    "nearestAgreedTexts",
    "explain",
    "explainWords",
    "wordHeat",
    "fitWords",
    "compareGroups",
    "groupComparison",
    "correlateQuestions",
    "questionCorrelation",
    "correlationPoints",
    "measureAnnotators",
    "plan",
    "whoDiffers",
    "slips",
    "startRun",
    "resumeRun",
    "compareRuns",
    "useRun",
    "startEncoding",
    "cancelJob",
    "trainDefaults",
  ],
  "describes this computer or its window": [
    "appInfo",
    "backups",
    "diagnostics",
    "diskInfo",
    "launchInfo",
    "readLink",
    "openPage",
    "downloadPacket",
    "cancelPacket",
    "openGuide",
    "updateState",
    "checkUpdates",
    "cancelUpdateCheck",
    "closingRequested",
    "quit",
    "cancelUpgrade",
    "serving",
  ],
  "needs a file, a picture or a plan": [
    "backupChanges",
    "importPreview",
    "importPreviewAsLastTime",
    "picture",
    "readPicture",
    "studyDraft",
    "auxiliaryCandidates",
    "stopExportContents",
  ],
};

it("has a recording of every other command", () => {
  const names = Object.keys(commands);
  expect([...recorded.keys()].filter((name) => !names.includes(name))).toEqual([]);
  expect(names.filter((name) => !recorded.has(name)).toSorted()).toEqual(
    Object.values(UNRECORDED).flat().toSorted(),
  );
});

it.each([...recorded])("%s answers in the recorded form", async (name, entries) => {
  const answered = entries.filter((entry) => "answer" in entry);
  const mock = [];
  for (const entry of answered) mock.push(await call(name, entry.arguments));
  expect(
    differences(
      answered.map(({ answer }) => answer),
      mock,
    ),
  ).toEqual([]);
});

const refused = [...recorded].flatMap(([name, entries]) =>
  entries.flatMap((entry) => (entry.problem ? [[name, entry.arguments, entry.problem] as const] : [])),
);
it.each(refused)("%s of %j refuses as recorded", async (name, given, { code, message }) => {
  await expect(call(name, [...given])).rejects.toMatchObject({ code, message });
});
