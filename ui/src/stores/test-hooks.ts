// For end-to-end tests only: paths instead of the system's file dialog, which WebDriver cannot reach.
//
// `__DISSENSUS_E2E__` is set by an initialization script of the window, only in a build for tests whose
// environment has DISSENSUS_E2E. A page cannot set it before this runs, and the functions do nothing that a
// person could not do in the window.
import type { App } from "./app.svelte";

interface TestHooks {
  /** As File > New with this path. */
  newProject(path: string): Promise<boolean>;
  /** As File > Open with this path. */
  openPath(path: string): Promise<boolean>;
  /** As Choose a folder… in the dialog about the encoder. */
  encoderFolder(path: string): Promise<boolean>;
  /** As dropping this file on the window. */
  importPath(path: string): Promise<void>;
  /** As Hand in with this path. */
  handIn(path: string): Promise<boolean>;
  /** As Watch a folder with this path. */
  watchFolder(path: string): void;
  /** As Export labels for another program, people by their ids, with this path. */
  exportFor(format: string, path: string): Promise<boolean>;
  /** As pasting this. */
  paste(text: string): Promise<boolean>;
  /** As Export in the Models view with this path. */
  exportRuns(runs: number[], path: string): Promise<boolean>;
}

declare global {
  interface Window {
    __DISSENSUS_E2E__?: boolean;
    __dissensus?: TestHooks;
  }
}

/** Puts the hooks on the window, if this is a test. */
export function installTestHooks(app: App): void {
  if (window.__DISSENSUS_E2E__ !== true) return;
  window.__dissensus = {
    newProject: (path) => app.create(path),
    openPath: (path) => app.open(path),
    encoderFolder: (path) => app.encoder.use(path),
    importPath: async (path) => app.drop([path]),
    handIn: (path) => app.outputs.handInTo(path),
    watchFolder: (path) => app.watched.watch(path),
    exportFor: (format, path) =>
      app.outputs.exportForProgramTo(
        path,
        { format, question: null, pseudonyms: false, notes: false },
        false,
      ),
    paste: (text) => app.paste.preview(text),
    exportRuns: (runs, path) => app.outputs.exportRuns(runs, path),
  };
}
