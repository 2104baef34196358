// An encoder that is missing is offered, with its size, and can be had or chosen.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import type { EncoderOffer } from "$api/bindings";
import { reset, emit } from "../../mock/bindings";
import EncoderDialog from "./EncoderDialog.svelte";

const offer: EncoderOffer = {
  name: "tiny",
  about: "For tests.",
  licence: "MIT",
  bytes: 91_335_000,
  files: [{ path: "model.safetensors", bytes: 90_868_376, sha256: "53aa51" }],
  source: "hub/tiny",
  folder: "/models/tiny",
  installed: false,
};

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  app.work.all = [];
  app.encoder.offer = null;
  app.encoder.problem = null;
  await app.openSample();
  app.dialog = "encoder";
  vi.spyOn(commands, "encoderOffer").mockResolvedValue(offer);
});

it("is offered with size, licence and source, and shows the progress of the download", async () => {
  let arrive: () => void = () => {};
  vi.spyOn(commands, "downloadEncoder").mockReturnValue(
    new Promise((resolve) => (arrive = () => resolve(null))),
  );
  const cancel = vi.spyOn(commands, "cancelDownload");
  await app.start();
  const user = userEvent.setup();
  render(EncoderDialog);
  expect(await screen.findByTestId("encoder-size")).toHaveTextContent("91 MB");
  expect(screen.getByTestId("encoder-file")).toHaveTextContent("90,868,376 bytes, SHA-256 53aa51");
  await user.click(screen.getByTestId("encoder-download"));
  emit("downloadChanged", { done: 45_667_500, total: 91_335_000, file: "model.safetensors" });
  await waitFor(() => expect(screen.getByTestId("encoder-progress")).toHaveTextContent("50 %"));
  await user.click(screen.getByTestId("encoder-cancel"));
  expect(cancel).toHaveBeenCalledOnce();
  arrive();
  await waitFor(() => expect(app.dialog).toBeNull());
  expect(app.toasts.list.some((toast) => toast.message === "The encoder is downloaded")).toBe(true);
});

it("shows why it failed and offers to try again", async () => {
  const download = vi
    .spyOn(commands, "downloadEncoder")
    .mockRejectedValueOnce({ code: "encoder-hub-offline", message: "no connection", detail: "Check it." });
  const user = userEvent.setup();
  render(EncoderDialog);
  await user.click(await screen.findByTestId("encoder-download"));
  expect(await screen.findByTestId("encoder-problem")).toHaveTextContent("No connection");
  expect(screen.getByTestId("encoder-download")).toHaveTextContent("Try again");
  await user.click(screen.getByTestId("encoder-download"));
  await waitFor(() => expect(download).toHaveBeenCalledTimes(2));
  await waitFor(() => expect(app.encoder.download).toBeNull());
});

it("can be loaded from a folder", async () => {
  const use = vi.spyOn(commands, "useEncoder");
  const user = userEvent.setup();
  render(EncoderDialog);
  await user.click(await screen.findByText("Choose a folder…"));
  await waitFor(() => expect(use).toHaveBeenCalledWith("/home/you/encoders/mine"));
  await waitFor(() => expect(app.dialog).toBeNull());
});
