// Encoders are compared on request, a comparison can be stopped, and the encoder changes only by choice.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { reset, emit } from "../../mock/bindings";
import EncodersDialog from "./EncodersDialog.svelte";

beforeEach(async () => {
  reset();
  await app.start();
  await app.openSample();
  app.dialog = "encoders";
});

it("compares the selected ones, and uses one only on a click", async () => {
  const user = userEvent.setup();
  const asked = vi.spyOn(commands, "tryEncoders");
  const used = vi.spyOn(commands, "useEncoder");
  render(EncodersDialog);
  const ticks = await screen.findAllByTestId("encoders-tick");
  expect(ticks).toHaveLength(3);
  expect(asked).not.toHaveBeenCalled();
  await user.click(ticks[2] as HTMLElement);
  await user.click(screen.getByTestId("encoders-compare"));
  await waitFor(() => expect(screen.getAllByTestId("encoders-row")).toHaveLength(2));
  expect(asked.mock.calls).toEqual([[1, ["all-MiniLM-L6-v2", "multilingual-e5-small-q4"]]]);
  expect(screen.getByTestId("encoders-table")).toHaveTextContent("0.985 ± 0.011");
  expect(screen.getByTestId("encoders-table")).toHaveTextContent("−0.021 ± 0.006");
  expect(used).not.toHaveBeenCalled();
  await user.click(screen.getByTestId("encoders-use"));
  expect(used).toHaveBeenCalledWith("multilingual-e5-small-q4");
  await waitFor(() => expect(app.dialog).toBeNull());
});

it("compares with the encoder that another project tuned", async () => {
  const user = userEvent.setup();
  const asked = vi.spyOn(commands, "tryEncoders");
  const used = vi.spyOn(commands, "useEncoder");
  render(EncodersDialog);
  const ticks = await screen.findAllByTestId("encoders-tick");
  await user.click(ticks[1] as HTMLElement);
  await user.click(ticks[2] as HTMLElement);
  await user.click(screen.getByTestId("encoders-add-project"));
  await waitFor(() => expect(screen.getAllByTestId("encoders-tick")).toHaveLength(4));
  await user.click(screen.getByTestId("encoders-compare"));
  await waitFor(() => expect(screen.getAllByTestId("encoders-row")).toHaveLength(2));
  const project = "/home/you/Documents/Comments.dissensus";
  expect(asked.mock.calls).toEqual([[1, ["all-MiniLM-L6-v2", project]]]);
  expect(screen.getAllByTestId("encoders-row")[0]).toHaveTextContent("Comments.dissensus");
  await user.click(screen.getByTestId("encoders-use"));
  expect(used).toHaveBeenCalledWith(project);
});

it("names an encoder that another project tuned by that project", async () => {
  const name = "/home/you/Tweets.dissensus.runs/01a2/encoder";
  vi.spyOn(commands, "encodersHere").mockResolvedValue([{ name, about: null, in_use: true }]);
  render(EncodersDialog);
  await waitFor(() => expect(screen.getByText("Tweets.dissensus")).toBeVisible());
});

it("does not compare a single one", async () => {
  const user = userEvent.setup();
  render(EncodersDialog);
  const ticks = await screen.findAllByTestId("encoders-tick");
  await user.click(ticks[1] as HTMLElement);
  expect(screen.getByTestId("encoders-compare")).toBeEnabled();
  await user.click(ticks[2] as HTMLElement);
  expect(screen.getByTestId("encoders-compare")).toBeDisabled();
});

it("describes what is needed if there is only one", async () => {
  vi.spyOn(commands, "encodersHere").mockResolvedValue([
    { name: "all-MiniLM-L6-v2", about: "English", in_use: true },
  ]);
  render(EncodersDialog);
  await waitFor(() => expect(screen.getByTestId("encoders-needs")).toBeVisible());
  expect(screen.getByTestId("encoders-compare")).toBeDisabled();
});

it("shows its progress, and stops", async () => {
  const user = userEvent.setup();
  let fail: (thrown: unknown) => void = () => undefined;
  vi.spyOn(commands, "tryEncoders").mockImplementation(() => new Promise((_, reject) => (fail = reject)));
  const cancelled = vi.spyOn(commands, "cancelJob").mockImplementation(async () => {
    fail({ code: "cancelled", message: "stopped", detail: null });
    return null;
  });
  render(EncodersDialog);
  await screen.findAllByTestId("encoders-tick");
  await user.click(screen.getByTestId("encoders-compare"));
  emit("jobChanged", {
    id: 77,
    kind: "encoders",
    title: "",
    state: "running",
    done: 3,
    total: 160,
    note: "texts",
    started_at: 0,
    ended_at: null,
  } as never);
  await user.click(await screen.findByTestId("encoders-stop"));
  expect(cancelled).toHaveBeenCalledWith(77);
  await waitFor(() => expect(screen.getByTestId("encoders-problem")).toHaveTextContent(/^Stopped/));
  expect(screen.getByTestId("encoders-compare")).toBeEnabled();
});

it("describes in words why it failed", async () => {
  const user = userEvent.setup();
  vi.spyOn(commands, "tryEncoders").mockRejectedValue({
    code: "encoder-learned",
    message: "`mine` was trained on labels of this project",
    detail: null,
  });
  render(EncodersDialog);
  await screen.findAllByTestId("encoders-tick");
  await user.click(screen.getByTestId("encoders-compare"));
  await waitFor(() =>
    expect(screen.getByTestId("encoders-problem")).toHaveTextContent("was trained on labels"),
  );
});
