// Runs as a person uses them: found, started, watched, compared, applied, deleted.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import type { AuxiliaryCandidate, RunInfo } from "$api/bindings";
import * as platform from "$platform";
import { reset, runs, emit } from "../../mock/bindings";
import ModelsView from "./ModelsView.svelte";

beforeEach(async () => {
  // jsdom measures nothing, and a chart without a size draws nothing.
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(400);
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(300);
  reset();
  app.toasts.list = [];
  app.dialog = null;
  app.work.all = [];
  await app.openSample();
  app.showFigures(1);
});

const rows = () => screen.getAllByTestId("run-item");
const row = (id: number) => {
  const found = rows().find((r) => r.dataset["runId"] === String(id));
  if (!found) throw new Error(`run ${id} is not in the list`);
  return found;
};
const tick = (id: number) => within(row(id)).getByRole("checkbox");

async function shown() {
  const user = userEvent.setup();
  render(ModelsView);
  await waitFor(() => expect(rows().length).toBeGreaterThan(0));
  return user;
}

async function look(user: ReturnType<typeof userEvent.setup>, id: number) {
  await user.click(row(id));
  await waitFor(() => expect(screen.getByTestId("run-detail").dataset["runId"]).toBe(String(id)));
}

describe("the list", () => {
  it("has the runs of the question, newest first, with figures and intervals", async () => {
    await shown();
    expect(rows().map((r) => r.dataset["runId"])).toEqual(["8", "7", "6", "5", "4", "3", "2", "1"]);
    expect(row(7)).toHaveTextContent("Multilevel");
    expect(row(7)).toHaveTextContent("1.012");
    expect(row(7)).toHaveTextContent("0.95–1.07");
    expect(row(7)).toHaveTextContent("in use");
    expect(row(2)).toHaveTextContent("data changed");
    expect(row(5)).toHaveTextContent("The loss stopped being a number");
    expect(row(8)).toHaveTextContent("epoch 9 of 24");
    expect(row(8)).toHaveTextContent("2 min left");
  });

  it("explains what a run is for if there is none, and offers one", async () => {
    const user = userEvent.setup();
    app.showFigures(2);
    render(ModelsView);
    await waitFor(() =>
      expect(screen.getByTestId("models-empty")).toHaveTextContent("scores it on the rest"),
    );
    await user.click(screen.getByTestId("run-new"));
    await waitFor(() => expect(screen.getByTestId("run-dialog")).toBeVisible());
  });

  it("is moved by keys, which tick runs and ask for new ones", async () => {
    const user = await shown();
    screen.getByTestId("run-list").focus();
    await user.keyboard("{ArrowDown}");
    await waitFor(() => expect(screen.getByTestId("run-detail").dataset["runId"]).toBe("7"));
    await user.keyboard(" ");
    expect(tick(7)).toBeChecked();
    // A click puts the focus on a row; the keys work there as well.
    await user.click(row(1));
    await user.keyboard(" ");
    expect(tick(1)).toBeChecked();
    expect(screen.getByTestId("run-compare")).toBeEnabled();
    await user.keyboard("n");
    await waitFor(() => expect(screen.getByTestId("run-dialog")).toBeVisible());
  });

  it("shows the problem if it cannot be loaded", async () => {
    vi.spyOn(commands, "runs").mockRejectedValue({ code: "disk", message: "the file is gone", detail: null });
    render(ModelsView);
    await waitFor(() => expect(screen.getByText("The file is gone")).toBeVisible());
  });
});

it("names the confusion table by the levels that the run learned", async () => {
  const details = commands.runDetail;
  const levels = ["was 1", "was 2", "was 3", "was 4", "was 5"];
  vi.spyOn(commands, "runDetail").mockImplementation(async (id) => ({ ...(await details(id)), levels }));
  await app.start();
  await shown();
  for (let i = 0; i < 15; i += 1) runs.step();
  const table = await screen.findByTestId("run-confusion");
  const titles = [...table.querySelectorAll("thead th")].map((th) => th.getAttribute("title"));
  expect(titles).toEqual(levels);
});

describe("a running training", () => {
  it("shows its progress in list and detail, and keeps the focus", async () => {
    await app.start();
    await shown();
    const list = screen.getByTestId("run-list");
    const before = row(8);
    const details = vi.spyOn(commands, "runDetail");
    list.focus();
    runs.step();
    await waitFor(() => expect(row(8)).toHaveTextContent("epoch 10 of 24"));
    expect(screen.getByTestId("run-detail")).toHaveTextContent("Epoch 10 of 24");
    expect(row(8)).toBe(before);
    expect(document.activeElement).toBe(list);
    expect(details).not.toHaveBeenCalled();
  });

  it("announces its end once, and then has figures", async () => {
    await app.start();
    await shown();
    for (let i = 0; i < 15; i += 1) runs.step();
    await waitFor(() => expect(screen.getByTestId("run-metric-log_loss")).toHaveTextContent("1.064"));
    expect(app.toasts.list).toMatchObject([
      {
        kind: "done",
        message: "Deep & cross has finished training",
        detail: expect.stringMatching(/^Log loss 1\.064/),
      },
    ]);
    const ended = app.runs.get(8);
    emit("runChanged", { ...ended, data_changed: true } as RunInfo);
    await waitFor(() => expect(row(8)).toHaveTextContent("data changed"));
    expect(app.toasts.list).toHaveLength(1);
  });

  it("can be cancelled and resumed", async () => {
    await app.start();
    const user = await shown();
    await user.click(screen.getByTestId("run-cancel"));
    await waitFor(() => expect(row(8).dataset["state"]).toBe("cancelled"));
    await user.click(screen.getByTestId("run-resume"));
    await waitFor(() => expect(row(8).dataset["state"]).toBe("running"));
    expect(app.toasts.list).toEqual([]);
  });
});

describe("a new run", () => {
  async function asking() {
    const user = await shown();
    await user.click(screen.getByTestId("run-new"));
    await waitFor(() => expect(screen.getByTestId("run-dialog")).toBeVisible());
    return user;
  }

  it("starts with the last model and defaults, and is shown once it is started", async () => {
    const start = vi.spyOn(commands, "startRun");
    const user = await asking();
    expect(screen.getByTestId("run-model")).toHaveTextContent("Deep & cross");
    expect(screen.getByTestId("run-epochs")).toHaveValue(30);
    await user.clear(screen.getByTestId("run-seed"));
    await user.type(screen.getByTestId("run-seed"), "3");
    await user.click(screen.getByTestId("run-start"));
    await waitFor(() => expect(screen.queryByTestId("run-dialog")).toBeNull());
    expect(start.mock.calls[0]?.[0]).toMatchObject({ question: 1, model: "share-rec-dcn", seed: 3 });
    await waitFor(() => expect(screen.getByTestId("run-detail").dataset["runId"]).toBe("9"));
    expect(row(9).dataset["state"]).toBe("running");
  });

  it("loads the defaults of another model, keeps manual changes, and warns of slow models", async () => {
    const user = await asking();
    await user.clear(screen.getByTestId("run-seed"));
    await user.type(screen.getByTestId("run-seed"), "7");
    expect(screen.queryByTestId("run-slow")).toBeNull();
    screen.getByTestId("run-tuning").focus();
    await user.keyboard("{Enter}{ArrowDown}{ArrowDown}{Enter}");
    await waitFor(() => expect(screen.getByTestId("run-slow")).toBeVisible());
    await waitFor(() => expect(screen.getByTestId("run-epochs")).toHaveValue(5));
    expect(screen.getByTestId("run-seed")).toHaveValue(7);
    expect(screen.getByTestId("run-tuning")).toHaveTextContent("LoRA");
  });

  it("starts a soft prompt with the chosen number of vectors", async () => {
    const start = vi.spyOn(commands, "startRun");
    const user = await asking();
    screen.getByTestId("run-tuning").focus();
    await user.keyboard("{Enter}{ArrowDown}{ArrowDown}{ArrowDown}{Enter}");
    await waitFor(() => expect(screen.getByTestId("run-tuning")).toHaveTextContent("Soft prompt"));
    await user.click(screen.getByTestId("run-more"));
    await user.clear(screen.getByTestId("run-field-vectors"));
    await user.type(screen.getByTestId("run-field-vectors"), "12");
    await user.click(screen.getByTestId("run-start"));
    await waitFor(() => expect(start).toHaveBeenCalled());
    expect(start.mock.calls[0]?.[0]).toMatchObject({ tuning: "prompt", vectors: 12 });
  });

  it("learns questions together, with weights in the advanced part, and remembers them", async () => {
    const start = vi.spyOn(commands, "startRun");
    const user = await asking();
    const boxes = () => screen.getAllByTestId("run-joint-question");
    expect(screen.queryByTestId("run-joint-words")).toBeNull();
    await user.click(boxes()[0] as HTMLElement);
    expect(screen.getByTestId("run-joint-words")).toHaveTextContent("shares nothing");
    expect(screen.queryByTestId("run-joint-weight")).toBeNull();
    await user.click(screen.getByTestId("run-more"));
    const weight = screen.getAllByTestId("run-joint-weight")[1] as HTMLElement;
    await user.clear(weight);
    await user.type(weight, "0");
    expect(screen.getByText("Write a number above 0.")).toBeVisible();
    await user.click(screen.getByTestId("run-start"));
    expect(start).not.toHaveBeenCalled();
    await user.clear(weight);
    await user.type(weight, "0.5");
    await user.click(screen.getByTestId("run-start"));
    await waitFor(() => expect(screen.queryByTestId("run-dialog")).toBeNull());
    const [own, other] = app.project?.questions ?? [];
    const joint = [
      { question: own?.id, weight: 1 },
      { question: other?.id, weight: 0.5 },
    ];
    expect(start.mock.calls[0]?.[0]).toMatchObject({ question: own?.id, joint, auxiliary: [] });

    // The next run starts with them; after removal the question is alone again.
    await user.click(screen.getByTestId("run-new"));
    await waitFor(() => expect(boxes()[0]).toBeChecked());
    await user.click(boxes()[0] as HTMLElement);
    await user.click(screen.getByTestId("run-start"));
    await waitFor(() => expect(start).toHaveBeenCalledTimes(2));
    expect(start.mock.calls[1]?.[0].joint).toEqual([]);
  });

  it("offers no auxiliary questions for a run of several questions", async () => {
    const user = await asking();
    screen.getByTestId("run-tuning").focus();
    await user.keyboard("{Enter}{ArrowDown}{ArrowDown}{Enter}");
    await waitFor(() => expect(screen.getByTestId("run-auxiliary")).toBeVisible());
    await user.click(screen.getAllByTestId("run-joint-question")[0] as HTMLElement);
    expect(screen.queryByTestId("run-auxiliary")).toBeNull();
    expect(screen.getByTestId("run-joint-words")).toHaveTextContent("One encoder with 2 heads");
  });

  it("does not start with an invalid number, and names it", async () => {
    const start = vi.spyOn(commands, "startRun");
    const user = await asking();
    await user.click(screen.getByTestId("run-more"));
    await user.clear(screen.getByTestId("run-field-validation"));
    await user.type(screen.getByTestId("run-field-validation"), "0.95");
    expect(screen.getByText("Write a number from 0.01 to 0.9.")).toBeVisible();
    await user.click(screen.getByTestId("run-start"));
    expect(start).not.toHaveBeenCalled();
    await waitFor(() => expect(screen.getByTestId("run-field-validation")).toHaveFocus());
  });

  /** A run that tunes the encoder, and the project that is chosen next. */
  async function tuned(project: string) {
    vi.spyOn(platform, "chooseProject").mockResolvedValue(project);
    const user = await asking();
    expect(screen.queryByTestId("run-auxiliary")).toBeNull();
    screen.getByTestId("run-tuning").focus();
    await user.keyboard("{Enter}{ArrowDown}{ArrowDown}{Enter}");
    await waitFor(() => expect(screen.getByTestId("run-auxiliary-add")).toBeVisible());
    return user;
  }

  it("adds labels of another project's only question, and removes them again", async () => {
    const start = vi.spyOn(commands, "startRun");
    const user = await tuned("/home/you/single.dissensus");
    await user.click(screen.getByTestId("run-auxiliary-add"));
    await waitFor(() =>
      expect(screen.getByTestId("run-auxiliary")).toHaveTextContent(
        /rude of single.dissensus \(53,764 labels\)/,
      ),
    );
    // Chosen once, it is not offered again.
    await user.click(screen.getByTestId("run-auxiliary-add"));
    await waitFor(() =>
      expect(screen.getByTestId("run-auxiliary-problem")).toHaveTextContent("all are chosen"),
    );
    await user.click(screen.getByTestId("run-auxiliary-remove"));
    expect(screen.getByTestId("run-auxiliary")).not.toHaveTextContent("53,764");
    expect(screen.queryByTestId("run-auxiliary-problem")).toBeNull();
    await user.click(screen.getByTestId("run-auxiliary-add"));
    await user.click(screen.getByTestId("run-start"));
    await waitFor(() => expect(start).toHaveBeenCalled());
    const auxiliary = [{ project: "/home/you/single.dissensus", question: "rude" }];
    expect(start.mock.calls[0]?.[0]).toMatchObject({ tuning: "lora", auxiliary });
  });

  it("asks which question of a project with several", async () => {
    const user = await tuned("/home/you/several.dissensus");
    await user.click(screen.getByTestId("run-auxiliary-add"));
    await waitFor(() => expect(screen.getByTestId("run-auxiliary-question")).toBeVisible());
    // A run that starts now would go without.
    expect(screen.getByTestId("run-start")).toBeDisabled();
    await user.click(screen.getByTestId("run-auxiliary-none"));
    expect(screen.getByTestId("run-start")).toBeEnabled();
    await user.click(screen.getByTestId("run-auxiliary-add"));
    await waitFor(() => expect(screen.getByTestId("run-auxiliary-question")).toBeVisible());
    screen.getByTestId("run-auxiliary-question").focus();
    await user.keyboard("{Enter}{ArrowDown}{Enter}");
    await waitFor(() =>
      expect(screen.getByTestId("run-auxiliary")).toHaveTextContent(/fair of several.dissensus/),
    );
    expect(screen.getByTestId("run-auxiliary")).toHaveTextContent("1 label");
    expect(screen.queryByTestId("run-auxiliary-question")).toBeNull();
  });

  it("waits for the questions of a large project, and ignores outdated responses", async () => {
    let answer: (found: AuxiliaryCandidate[]) => void = () => {};
    vi.spyOn(commands, "auxiliaryCandidates").mockImplementation(
      () => new Promise((resolve) => (answer = resolve)),
    );
    const user = await tuned("/home/you/large.dissensus");
    await user.click(screen.getByTestId("run-auxiliary-add"));
    await waitFor(() => expect(screen.getByTestId("run-start")).toBeDisabled());
    screen.getByTestId("run-tuning").focus();
    await user.keyboard("{Enter}{Home}{Enter}");
    await waitFor(() => expect(screen.queryByTestId("run-auxiliary")).toBeNull());
    expect(screen.getByTestId("run-start")).toBeEnabled();
    const project = "/home/you/large.dissensus";
    answer([{ project, file: "large.dissensus", question: "rude", labels: 9 }]);
    screen.getByTestId("run-tuning").focus();
    await user.keyboard("{Enter}{ArrowDown}{ArrowDown}{Enter}");
    await waitFor(() => expect(screen.getByTestId("run-auxiliary")).toBeVisible());
    expect(screen.getByTestId("run-auxiliary")).not.toHaveTextContent("large.dissensus");
  });

  it("reports a project without labels, and offers none for a frozen encoder", async () => {
    const start = vi.spyOn(commands, "startRun");
    const user = await tuned("/home/you/empty.dissensus");
    await user.click(screen.getByTestId("run-auxiliary-add"));
    await waitFor(() =>
      expect(screen.getByTestId("run-auxiliary-problem")).toHaveTextContent("no question with labels"),
    );
    await user.click(screen.getByTestId("run-auxiliary-own"));
    await waitFor(() => expect(screen.getByTestId("run-auxiliary-question")).toBeVisible());
    screen.getByTestId("run-auxiliary-question").focus();
    await user.keyboard("{Enter}{ArrowDown}{Enter}");
    await waitFor(() =>
      expect(screen.getByTestId("run-auxiliary")).toHaveTextContent("of this project (120 labels)"),
    );
    screen.getByTestId("run-tuning").focus();
    await user.keyboard("{Enter}{Home}{Enter}");
    await waitFor(() => expect(screen.queryByTestId("run-auxiliary")).toBeNull());
    await user.click(screen.getByTestId("run-start"));
    await waitFor(() => expect(start).toHaveBeenCalled());
    expect(start.mock.calls[0]?.[0]).toMatchObject({ tuning: "frozen", auxiliary: [] });
  });

  it("shows why it was refused, and stays open", async () => {
    const user = await asking();
    vi.spyOn(commands, "startRun").mockRejectedValue({
      code: "split",
      message: "no text has a split",
      detail: "Divide by text.",
    });
    await user.click(screen.getByTestId("run-start"));
    await waitFor(() => expect(screen.getByTestId("run-refused")).toHaveTextContent("No text has a split"));
    expect(screen.getByTestId("run-dialog")).toBeVisible();
  });
});

describe("the detail", () => {
  it("has curves with the best checkpoint in words, figures, levels and people", async () => {
    const user = await shown();
    await look(user, 6);
    const [loss] = within(screen.getByTestId("run-curve")).getAllByRole("slider");
    expect(loss).toHaveAttribute("aria-label", expect.stringContaining("Validation: 1.324 at epoch 1, best"));
    expect(screen.getByTestId("run-metric-accuracy")).toHaveTextContent("0.562");
    await waitFor(() => expect(screen.getAllByTestId("run-annotator")).toHaveLength(8));
    expect(screen.getByTestId("run-notes")).toHaveTextContent("the shared head answers for them");
    expect(screen.getByRole("heading", { name: /Levels/ })).toBeVisible();
  });

  it("reads out a curve by arrow keys", async () => {
    const user = await shown();
    await look(user, 6);
    const [loss] = within(screen.getByTestId("run-curve")).getAllByRole("slider");
    loss?.focus();
    await user.keyboard("{Home}{ArrowRight}");
    expect(loss).toHaveAttribute(
      "aria-valuetext",
      expect.stringMatching(/^epoch 2: Training 1\.\d{3}, Validation/),
    );
  });

  it("sorts people by their columns", async () => {
    const user = await shown();
    await look(user, 6);
    await waitFor(() => expect(screen.getAllByTestId("run-annotator")).toHaveLength(8));
    const names = () => screen.getAllByTestId("run-annotator").map((r) => r.firstElementChild?.textContent);
    const table = screen.getByRole("table", { name: "Annotators" });
    await user.click(within(table).getByRole("button", { name: "Annotator" }));
    expect(names()[0]).toBe("Amara");
    await user.click(within(table).getByRole("button", { name: "Annotator" }));
    expect(names()[0]).toBe("Hiro");
  });

  it("states if texts that tuned the encoder are left out, in list, detail and comparison", async () => {
    const words = "31 texts are excluded: the encoder was tuned on their labels.";
    const user = await shown();
    expect(row(3)).toHaveTextContent("31 left out");
    expect(within(row(3)).getByTestId("run-mark-left-out")).toHaveAttribute("title", words);
    expect(within(row(6)).queryByTestId("run-mark-left-out")).toBeNull();
    await look(user, 6);
    expect(screen.queryByTestId("run-left-out")).toBeNull();
    await look(user, 3);
    expect(screen.getByTestId("run-left-out")).toHaveTextContent("31 texts left out");
    expect(screen.getByTestId("run-left-out")).toHaveAttribute("title", words);
    await waitFor(() =>
      expect(screen.getByTestId("run-notes")).toHaveTextContent("the encoder was tuned on their labels"),
    );
    await user.click(tick(6));
    await user.click(tick(3));
    await user.click(screen.getByTestId("run-compare"));
    await waitFor(() => expect(screen.getByTestId("compare-left-out")).toHaveTextContent(`B: ${words}`));
  });

  it("shows why a run failed", async () => {
    const user = await shown();
    await look(user, 5);
    expect(screen.getByTestId("run-problem")).toHaveTextContent("at step 412");
    expect(screen.getByTestId("run-problem")).toHaveTextContent(
      "choose a lower learning rate or a limit for the gradient",
    );
    expect(screen.queryByTestId("run-use")).toBeNull();
  });

  it("uses a run’s encoder, and stops", async () => {
    const use = vi.spyOn(commands, "useRun");
    const user = await shown();
    await look(user, 6);
    await user.click(screen.getByTestId("run-use"));
    await waitFor(() => expect(row(6)).toHaveTextContent("in use"));
    expect(row(7)).not.toHaveTextContent("in use");
    expect(screen.getByTestId("run-use")).toHaveTextContent("Stop using");
    await user.click(screen.getByTestId("run-use"));
    await waitFor(() => expect(row(6)).not.toHaveTextContent("in use"));
    expect(use.mock.calls).toEqual([[6], [null]]);
  });

  it("deletes only after confirmation", async () => {
    const user = await shown();
    await look(user, 6);
    await user.click(screen.getByTestId("run-delete"));
    await waitFor(() => expect(screen.getByTestId("run-delete-dialog")).toBeVisible());
    await user.click(screen.getByText("Keep it"));
    expect(row(6)).toBeVisible();
    await waitFor(() => expect(screen.queryByTestId("run-delete-dialog")).toBeNull());
    await user.click(screen.getByTestId("run-delete"));
    await user.click(await screen.findByTestId("run-delete-confirm"));
    await waitFor(() => expect(rows()).toHaveLength(7));
    expect(rows().some((r) => r.dataset["runId"] === "6")).toBe(false);
    await waitFor(() => expect(screen.getByTestId("run-list")).toHaveFocus());
  });

  it("is exported to a chosen file", async () => {
    const write = vi.spyOn(commands, "exportRuns");
    const user = await shown();
    await look(user, 6);
    await user.click(screen.getByTestId("run-export"));
    await waitFor(() => expect(write).toHaveBeenCalledWith([6], "/home/you/Comments runs.html"));
    expect(app.toasts.list.at(-1)?.message).toBe("1 run written to Comments runs.html");
    await user.click(screen.getByTestId("run-export-all"));
    await waitFor(() => expect(write.mock.calls.at(-1)?.[0]).toEqual([7, 6, 3, 2, 1]));
  });
});

describe("a comparison", () => {
  it("has the difference of every figure, curves of both, and each person under both", async () => {
    const user = await shown();
    expect(screen.getByTestId("run-compare")).toBeDisabled();
    await user.click(tick(6));
    await user.click(tick(3));
    await user.click(screen.getByTestId("run-compare"));
    await waitFor(() =>
      expect(screen.getByTestId("compare-metric-log_loss")).toHaveTextContent(/1\.055.*1\.184.*\+0\.129/s),
    );
    expect(screen.getByTestId("compare-metric-log_loss").querySelector(".better")).toHaveTextContent("1.055");
    expect(screen.getByTestId("compare-metric-brier").querySelector(".better")).toBeNull();
    const [first, ...others] = screen.getAllByTestId("scatter-point");
    expect(others).toHaveLength(7);
    first?.focus();
    await waitFor(() => expect(screen.getByTestId("compare-scatter")).toHaveTextContent("Amara: A"));
    // The list is loaded again on new labels: this must not change the comparison.
    const asked = vi.spyOn(commands, "compareRuns");
    await app.runs.load();
    expect(asked).not.toHaveBeenCalled();
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByTestId("compare-view")).toBeNull());
  });

  it("can be started from the open run", async () => {
    const asked = vi.spyOn(commands, "compareRuns");
    const user = await shown();
    await look(user, 6);
    screen.getByTestId("run-compare-with").focus();
    await user.keyboard("{Enter}{ArrowDown}{Enter}");
    await waitFor(() => expect(screen.getByTestId("compare-view")).toBeVisible());
    expect(asked.mock.calls[0]?.[0]).toBe(6);
    expect(tick(6)).toBeChecked();
  });

  it("shows why two runs cannot be compared", async () => {
    const user = await shown();
    await user.click(tick(7));
    await user.click(tick(1));
    await user.click(screen.getByTestId("run-compare"));
    await waitFor(() =>
      expect(screen.getByTestId("compare-problem")).toHaveTextContent("scored on different labels"),
    );
  });

  it("takes two runs: a third replaces the first; unfinished ones are not offered", async () => {
    const user = await shown();
    for (const id of [7, 6, 3]) await user.click(tick(id));
    expect(tick(7)).not.toBeChecked();
    expect(tick(6)).toBeChecked();
    expect(tick(3)).toBeChecked();
    expect(tick(8)).toBeDisabled();
    expect(tick(5)).toBeDisabled();
  });
});
