// The notice that others can read a project, once it is dismissed for that project on this computer.
import { remember, remembered } from "./local-storage";

const STORE = "readable-dismissed:";

const isYes = (value: unknown): value is boolean => value === true;

/** Whether it is dismissed for the project at this path. */
export const isReadableDismissed = (project: string): boolean => remembered(STORE + project, false, isYes);

export const dismissReadable = (project: string): void => remember(STORE + project, true);
