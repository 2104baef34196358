// What only a desktop has, for a plain browser and for tests.
import type { SubmissionInfo } from "$api/bindings";
import type { DropListener } from "$api/platform";

/** Whether this is a page with one packet: see `actions.ts`. */
export const IS_PAGE: boolean = false;

/** Whether answers are sent as they are given. */
export const sendsAnswers = (): boolean => false;

/** What to show once everything is answered and sent: a code, or the address of a page. */
export const completion = (): string | null => null;
export const handInHost = (): string | null => null;
export const sendHandIn = (): Promise<SubmissionInfo> => Promise.reject(new Error("only pages send"));

/** Whether a submission is shared instead of saved, as on a phone. */
export const sharesHandIn = (): boolean => false;

/** What became of the last file of a submission. */
export const handInWas = (): "saved" | "shared" | "cancelled" => "saved";

export const chooseProject = async (): Promise<string | null> => "/home/you/Documents/Comments.dissensus";
export const chooseNewProject = async (name: string): Promise<string | null> =>
  `/home/you/Documents/${name}.dissensus`;
export const chooseImport = async (): Promise<string | null> => "/home/you/bad comments.csv";
export const chooseTexts = async (): Promise<string | null> => "/home/you/texts.csv";
export const choosePicture = async (): Promise<string | null> => "/home/you/example.png";
export const chooseExport = async (name: string, _title?: string): Promise<string | null> =>
  `/home/you/${name}.csv`;
export const chooseProgramFile = async (
  _title: string,
  name: string,
  ending: string,
): Promise<string | null> => `/home/you/${name}.${ending}`;
export const readClipboard = async (): Promise<string | null> => null;
export const chooseReport = async (name: string): Promise<string | null> => `/home/you/${name}.html`;

export const choosePapersFolder = async (name: string): Promise<string | null> => `/home/you/${name} papers`;
export const chooseReportFolder = async (name: string): Promise<string | null> => `/home/you/${name} report`;

export const chooseCopy = async (name: string): Promise<string | null> => `/home/you/${name} copy.dissensus`;
export const chooseEncrypted = async (name: string): Promise<string | null> => `/home/you/${name}.age`;
export const chooseDecrypted = async (path: string): Promise<string | null> => `${path} elsewhere`;
export const chooseHandIn = async (name: string): Promise<string | null> => `/home/you/${name}.handin`;
export const chooseSubmissions = async (): Promise<string[] | null> => [
  "/home/you/ada.handin",
  "/home/you/another study.handin",
  "/home/you/ben again.handin",
];
export const chooseLinks = async (name: string): Promise<string | null> => `/home/you/${name} links.csv`;
export const chooseFolder = async (_title: string): Promise<string | null> => "/home/you/encoders/mine";
export const copyText = async (text: Promise<string>): Promise<void> => {
  await text;
};

export async function setTitle(title: string): Promise<void> {
  document.title = title;
}

/** A browser has its own; this one is for looking at what the window would be like. */
export async function setZoom(factor: number): Promise<void> {
  document.documentElement.style.setProperty("zoom", String(factor));
}

export async function onFileDrop(listener: DropListener): Promise<() => void> {
  const drop = (event: DragEvent) => {
    event.preventDefault();
    listener.drop([...(event.dataTransfer?.files ?? [])].map((file) => file.name));
  };
  const over = (event: DragEvent) => {
    event.preventDefault();
    listener.over([]);
  };
  window.addEventListener("drop", drop);
  window.addEventListener("dragover", over);
  return () => {
    window.removeEventListener("drop", drop);
    window.removeEventListener("dragover", over);
  };
}
