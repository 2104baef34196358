// Unusual labels are listed next to contested ones, and a click opens their text in Findings.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import type { SlipReport, SlipRow } from "$api/bindings";
import { reset, emit } from "../../mock/bindings";
import AnnotatorsView from "./AnnotatorsView.svelte";

beforeEach(async () => {
  reset();
  await app.start();
  await app.openSample();
  app.show("people");
});

const row: SlipRow = {
  text: 7,
  text_id: "c-0007",
  body: "the soup recipe needs <b>salt</b>",
  annotator: 1,
  annotator_id: "amara",
  name: "Amara",
  kind: "slip",
  level: 4,
  level_name: "5",
  usual: 0,
  usual_name: "1",
  own: 0.004,
  others: 0.0004,
  others_labels: 6,
  same_labels: 0,
  expected: 0.3,
};

function found(change: Partial<SlipReport>): SlipReport {
  return {
    question: 1,
    below: 0.05,
    below_others: 0.2,
    judged: 728,
    slips_in_all: 1,
    slips_expected: 0.3,
    slips_beyond_chance: 1,
    slips_words: "1 label is beyond chance, of 1 unusual label.",
    contested_in_all: 1,
    contested_expected: 0.6,
    contested_words: "1 contested label, where chance alone would give about 1.",
    slips: [row],
    contested: [{ ...row, text: 9, kind: "divided", others: 0.4, same_labels: 3 }],
    needs: null,
    remark: null,
    ...change,
  };
}

it("lists slips with the number expected by chance, and opens a text", async () => {
  const user = userEvent.setup();
  const asked = vi.spyOn(commands, "slips").mockResolvedValue(found({}));
  render(AnnotatorsView);
  await user.click(await screen.findByTestId("slips-all"));
  await waitFor(() => expect(screen.getAllByTestId("slip")).toHaveLength(2));
  expect(asked).toHaveBeenCalledWith(app.questionId, null);
  expect(screen.getByTestId("slips-count")).toHaveTextContent("1 label is beyond chance");
  const [slip, contested] = screen.getAllByTestId("slip");
  expect(slip).toHaveTextContent("the soup recipe needs <b>salt</b>");
  expect(slip).toHaveTextContent("given 5, usual for this person 1 · chance 0.4 % own, < 0.1 % others");
  expect(contested).toHaveTextContent("3 of 6 others gave this text the same label. Likely for others.");
  await user.click(within(contested as HTMLElement).getByTestId("slip-open"));
  expect([app.view, app.requestedText]).toEqual(["findings-texts", 9]);
  expect(screen.queryByTestId("slips")).toBeNull();
});

it("lists people at chance level only on demand", async () => {
  const user = userEvent.setup();
  const sentence = "No sign of slips: 180 unusual labels, and chance alone would give about 233.";
  const rows = [4, 5, 6].map((text) => ({ ...row, text }));
  vi.spyOn(commands, "slips").mockResolvedValue(
    found({
      slips: rows,
      slips_in_all: 180,
      slips_expected: 233.2,
      slips_beyond_chance: 0,
      slips_words: sentence,
      contested_expected: 12,
      contested_words: "No more than chance: 1 contested label, and chance alone would give about 12.",
    }),
  );
  render(AnnotatorsView);
  await user.click(await screen.findByTestId("slips-all"));
  await waitFor(() => expect(screen.getByTestId("slips-count")).toHaveTextContent(sentence));
  const rest = screen.getByTestId("slips-rest");
  expect(rest).not.toHaveAttribute("open");
  expect(screen.getByTestId("contested-rest")).not.toHaveAttribute("open");
  expect(within(rest).getAllByTestId("slip")).toHaveLength(3);
  await user.click(within(rest).getByText(/^Show (the )?3 .*unusual labels that chance can explain$/));
  expect(rest).toHaveAttribute("open");
});

it("shows one person's slips from that person's page", async () => {
  const user = userEvent.setup();
  const asked = vi
    .spyOn(commands, "slips")
    .mockResolvedValue(
      found({ slips: [], slips_in_all: 0, slips_beyond_chance: 0, slips_words: "No sign of slips." }),
    );
  render(AnnotatorsView);
  const grid = await screen.findByRole("grid", { name: "Annotators" });
  grid.focus();
  await user.keyboard("{Home}");
  await user.click(await screen.findByTestId("slips-person"));
  await waitFor(() => expect(screen.getByTestId("slips")).toHaveTextContent("No sign of slips."));
  expect(asked.mock.calls[0]?.[1]).not.toBeNull();
});

it("describes what is needed, and can be stopped", async () => {
  const user = userEvent.setup();
  let stop: (problem: unknown) => void = () => undefined;
  const never = new Promise<SlipReport>((_, reject) => (stop = reject));
  const asked = vi.spyOn(commands, "slips").mockReturnValue(never);
  const cancel = vi.spyOn(commands, "cancelJob");
  render(AnnotatorsView);
  await user.click(await screen.findByTestId("slips-all"));
  const rest = { seconds_left: null, note: null, problem: null };
  emit("jobChanged", {
    id: 81,
    kind: "evaluate",
    title: "unusual labels",
    done: 1,
    total: 4,
    state: "running",
    ...rest,
  });
  await waitFor(() =>
    expect(screen.getByRole("progressbar", { name: "Checking every label" })).toHaveValue(1),
  );
  await user.click(screen.getByRole("button", { name: "Stop" }));
  expect(cancel).toHaveBeenCalledWith(81);
  stop({ code: "cancelled", message: "cancelled", detail: null });
  await waitFor(() => expect(screen.getByTestId("slips")).toHaveTextContent("Stopped"));
  const needs = "None of 3 labels can be judged yet.";
  asked.mockResolvedValue(found({ judged: 0, needs }));
  await user.click(screen.getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(screen.getByTestId("slips-needs")).toHaveTextContent(needs));
});
