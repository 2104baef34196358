// Where somebody is on the way through the texts: a text, and whether it is asked for the first time or again.
import type { TextId } from "$api/bindings";

export interface Assignment {
  text: TextId;
  /** 1, or a later occasion on which a packet asks the text again. */
  occasion: number;
}

/** Places with the same name are the same place. */
export function assignmentKey({ text, occasion }: Assignment): string {
  return `${text}/${occasion}`;
}
