// What only a desktop has: file dialogs, dropped files, a window title.
import type { SubmissionInfo } from "$api/bindings";
import { getCurrentWebview } from "@tauri-apps/api/webview";
import { getCurrentWindow } from "@tauri-apps/api/window";
import { open, save } from "@tauri-apps/plugin-dialog";

/** Whether this is a page with one packet: see `actions.ts`. */
export const IS_PAGE: boolean = false;

/** Whether answers are sent as they are given. */
export const sendsAnswers = (): boolean => false;

/** What to show once everything is answered and sent: a code, or the address of a page. */
export const completion = (): string | null => null;

/** The computer to which *Hand in* sends answers; null where it makes a file. */
export const handInHost = (): string | null => null;

/** Sends them there. */
export const sendHandIn = (): Promise<SubmissionInfo> => Promise.reject(new Error("only pages send"));

/** Whether a submission is shared instead of saved, as on a phone. */
export const sharesHandIn = (): boolean => false;

/** What became of the last file of a submission. */
export const handInWas = (): "saved" | "shared" | "cancelled" => "saved";

const PROJECT = { name: "Dissensus project", extensions: ["dissensus"] };
const OPENED = { name: "Dissensus project", extensions: ["dissensus", "age"] };
const HAND_IN = { name: "Submitted", extensions: ["handin"] };
const TABLE = {
  name: "Texts or labels (CSV, JSON, ZIP and others)",
  extensions: ["csv", "tsv", "jsonl", "ndjson", "json", "txt", "conll", "conllu", "zip", "xmi", "gz", "age"],
};

let isOpen = false;

/** One file dialog at a time: asking again while one is open gives nothing. */
async function openDialog<T>(dialog: () => Promise<T | null>): Promise<T | null> {
  if (isOpen) return null;
  isOpen = true;
  try {
    return await dialog();
  } finally {
    isOpen = false;
  }
}

/** A project to open. */
export async function chooseProject(title = "Open a project"): Promise<string | null> {
  return openDialog(() => open({ title, filters: [OPENED], multiple: false, directory: false }));
}

/** Where a new project goes. */
export async function chooseNewProject(name: string): Promise<string | null> {
  return openDialog(() =>
    save({ title: "New project", filters: [PROJECT], defaultPath: `${name}.dissensus` }),
  );
}

/** A file to import. */
export async function chooseImport(): Promise<string | null> {
  return openDialog(() =>
    open({ title: "Import texts or labels", filters: [TABLE], multiple: false, directory: false }),
  );
}

/** Chooses a file with texts to join. */
export async function chooseTexts(): Promise<string | null> {
  return openDialog(() =>
    open({ title: "Texts in another file", filters: [TABLE], multiple: false, directory: false }),
  );
}

/** A picture for a guideline. */
export async function choosePicture(): Promise<string | null> {
  const filters = [
    { name: "Pictures (PNG, JPEG, GIF, WebP)", extensions: ["png", "jpg", "jpeg", "gif", "webp"] },
  ];
  return openDialog(() => open({ title: "Add a picture", filters, multiple: false, directory: false }));
}

/** Where labels, or predictions, are written to. */
export async function chooseExport(name: string, title = "Export labels"): Promise<string | null> {
  const filters = [
    { name: "CSV", extensions: ["csv"] },
    { name: "JSON Lines", extensions: ["jsonl"] },
  ];
  return openDialog(() => save({ title, filters, defaultPath: `${name}.csv` }));
}

/** Where labels for another program are written to: a file, or without an ending a folder that is made. */
export async function chooseProgramFile(title: string, name: string, ending: string): Promise<string | null> {
  const filters = ending === "" ? [] : [{ name: title, extensions: [ending] }];
  const defaultPath = ending === "" ? name : `${name}.${ending}`;
  return openDialog(() => save({ title: `Export as ${title}`, filters, defaultPath }));
}

/** Chooses where to write a report of runs; the extension sets the format. */
export async function chooseReport(name: string): Promise<string | null> {
  const filters = [
    { name: "Report with plots (HTML)", extensions: ["html"] },
    { name: "CSV", extensions: ["csv"] },
    { name: "JSON", extensions: ["json"] },
    { name: "LaTeX table", extensions: ["tex"] },
  ];
  return openDialog(() => save({ title: "Export runs", filters, defaultPath: `${name}.html` }));
}

/** Where a report for a paper goes: a folder that is made. */
export async function chooseReportFolder(name: string): Promise<string | null> {
  return openDialog(() => save({ title: "Report for a paper", defaultPath: `${name} report` }));
}

/** Where the papers for an institution go: a folder that is made. */
export async function choosePapersFolder(name: string): Promise<string | null> {
  return openDialog(() => save({ title: "Papers for an institution", defaultPath: `${name} papers` }));
}

/** Where a copy of the project goes. */
export async function chooseCopy(name: string): Promise<string | null> {
  return openDialog(() =>
    save({ title: "Save a copy", filters: [PROJECT], defaultPath: `${name} copy.dissensus` }),
  );
}

/** Chooses where to write an encrypted file. */
export async function chooseEncrypted(name: string): Promise<string | null> {
  const filters = [{ name: "Encrypted (age)", extensions: ["age"] }];
  return openDialog(() => save({ title: "Save encrypted", filters, defaultPath: `${name}.age` }));
}

/** Chooses where to write a decrypted file. */
export async function chooseDecrypted(defaultPath: string): Promise<string | null> {
  return openDialog(() => save({ title: "Decrypt to", defaultPath }));
}

/** Chooses where to write a submission. */
export async function chooseHandIn(name: string): Promise<string | null> {
  return openDialog(() => save({ title: "Hand in", filters: [HAND_IN], defaultPath: `${name}.handin` }));
}

/** Chooses submissions, packets, and copies of the project. */
export async function chooseSubmissions(): Promise<string[] | null> {
  const filters = [{ name: "Submissions, packets, copies", extensions: ["handin", "dissensus", "age"] }];
  return openDialog(() => open({ title: "Merge submissions", filters, multiple: true, directory: false }));
}

/** Where the links of annotators are written to. */
export async function chooseLinks(name: string): Promise<string | null> {
  const filters = [
    { name: "Table (CSV)", extensions: ["csv"] },
    { name: "Page with QR codes (HTML)", extensions: ["html"] },
  ];
  return openDialog(() => save({ title: "Save the links", filters, defaultPath: `${name} links.csv` }));
}

/** A folder. */
export async function chooseFolder(title: string): Promise<string | null> {
  return openDialog(() => open({ title, multiple: false, directory: true }));
}

/** Copies a text to the clipboard. It may be pending: WebKit allows writing only during the click. */
export async function copyText(text: Promise<string>): Promise<void> {
  const blob = text.then((words) => new Blob([words], { type: "text/plain" }));
  await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
}

/** The text on the clipboard; null where the system does not let it be read, empty where there is none. */
export async function readClipboard(): Promise<string | null> {
  try {
    return await navigator.clipboard.readText();
  } catch {
    return null;
  }
}

/** Writes the window's title. */
export async function setTitle(title: string): Promise<void> {
  await getCurrentWindow().setTitle(title);
}

/** Draws everything so many times as large. */
export async function setZoom(factor: number): Promise<void> {
  await getCurrentWebview().setZoom(factor);
}

/** What a file over the window does. */
export interface DropListener {
  /** With the files, where they are known before they are dropped. */
  over(paths: string[]): void;
  away(): void;
  drop(paths: string[]): void;
}

/** Listens for files dragged over the window; returns what stops it. */
export async function onFileDrop(listener: DropListener): Promise<() => void> {
  return getCurrentWebview().onDragDropEvent(({ payload }) => {
    if (payload.type === "enter") listener.over(payload.paths);
    else if (payload.type === "leave") listener.away();
    else if (payload.type === "drop") listener.drop(payload.paths);
  });
}
