// A text that a person labels, in the first or a later annotation round.
import type { TextId } from "$api/bindings";

export interface Assignment {
  text: TextId;
  /** 1, or a later annotation round of a packet. */
  occasion: number;
}

/** A unique key of an assignment. */
export function assignmentKey({ text, occasion }: Assignment): string {
  return `${text}/${occasion}`;
}
