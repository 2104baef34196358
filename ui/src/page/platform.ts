// What a page has in place of file dialogs and a window.
import type { DropListener } from "$api/platform";
import type { SubmissionInfo } from "$api/bindings";
import { changing } from "./bindings";
import { handed } from "./handed.svelte";
import { problem } from "./problems";
import { fileName, sharesFiles, type Given } from "./save-file";
import { session } from "./session";

/** This is a page with one packet: see `actions.ts`. */
export const IS_PAGE = true;

/** Whether answers are sent as they are given. */
export const sendsAnswers = (): boolean => session.current?.sender != null;

/** What to show once everything is answered and handed in: a code, or the address of a page. */
export function completion(): string | null {
  const { content, sender } = session.current ?? {};
  return (sender ? sender.left : handed.since) === 0 ? (content?.completion ?? null) : null;
}

/** The computer to which *Hand in* sends answers; null where it makes a file. */
export function handInHost(): string | null {
  const { target } = session.current?.content ?? {};
  return target ? new URL(target.url).host : null;
}

export const sendHandIn = (): Promise<SubmissionInfo> => {
  if (!session.current) throw problem("not-in-a-page");
  return changing(session.current.send());
};

/** Whether a submission is shared instead of saved, as on a phone. */
export const sharesHandIn = (): boolean => sharesFiles();

/** What became of the last file of a submission. */
export const handInWas = (): Given => handed.by;

const nothing = async () => null;

export const chooseProject: (title?: string) => Promise<string | null> = nothing;
export const chooseNewProject: (name: string) => Promise<string | null> = nothing;
export const chooseImport: () => Promise<string | null> = nothing;
export const chooseTexts: () => Promise<string | null> = nothing;
export const choosePicture: () => Promise<string | null> = nothing;
export const chooseExport: (name: string, title?: string) => Promise<string | null> = nothing;
export const chooseProgramFile: (title: string, name: string, ending: string) => Promise<string | null> =
  nothing;
export const chooseReport: (name: string) => Promise<string | null> = nothing;
export const chooseReportFolder: (name: string) => Promise<string | null> = nothing;
export const choosePapersFolder: (name: string) => Promise<string | null> = nothing;
export const chooseCopy: (name: string) => Promise<string | null> = nothing;
export const chooseSubmissions: () => Promise<string[] | null> = nothing;
export const chooseEncrypted: (name: string) => Promise<string | null> = nothing;
export const chooseLinks: (name: string) => Promise<string | null> = nothing;
export const chooseFolder: (title: string) => Promise<string | null> = nothing;
export const readClipboard: () => Promise<string | null> = nothing;

/** The browser asks where a download goes, or saves it in its own folder. */
export async function chooseHandIn(name: string): Promise<string | null> {
  const { annotator, packet } = session.current?.content ?? {};
  return fileName(annotator?.external_id ?? name, packet ?? "");
}

export async function copyText(text: Promise<string>): Promise<void> {
  await navigator.clipboard.writeText(await text);
}

export async function setTitle(title: string): Promise<void> {
  document.title = title;
}

/** A browser zooms by itself. */
export async function setZoom(_factor: number): Promise<void> {}

/** Nothing is dropped on a page. */
export async function onFileDrop(_listener: DropListener): Promise<() => void> {
  return () => {};
}
