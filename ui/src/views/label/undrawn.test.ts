// A text with characters that this machine cannot draw says so on the card.
import { render, screen } from "@testing-library/svelte";
import { expect, it, vi } from "vitest";
import { NO_NOTE } from "$logic/notes";
import TextCard from "./TextCard.svelte";

vi.mock("$logic/glyphs", async (load) => ({
  ...(await load<typeof import("$logic/glyphs")>()),
  canvasDraw: () => (letter: string) => (letter < "\u0250" ? letter : "box"),
}));

const card = (body: string) => {
  const fresh = { group: null, occasion: 1, asked: true, answer: null, note: NO_NOTE, draft: null };
  const marks = { flagged: false, skipped: false, random: false, reveal: null, spans: null };
  const task = { text: 1, external_id: "t1", body, ...fresh, ...marks };
  return render(TextCard, { task, size: 16, blurred: false, onsee: () => {} });
};

it("lists what cannot be drawn", async () => {
  card("안녕 👩‍👩‍👧 hello");
  const notice = await screen.findByTestId("label-undrawn");
  expect(notice).toHaveTextContent(
    "Part of this text cannot be displayed: Hangul (2 signs) and emoji (3 signs).",
  );
});

it("shows nothing if all is drawn", () => {
  card("Grüße");
  expect(screen.queryByTestId("label-undrawn")).toBeNull();
});
