// Whether the disk of the project is encrypted, in the view of the project.
import { render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import type { DiskInfo } from "$api/bindings";
import { app } from "$stores/app.svelte";
import { reset } from "../../mock/bindings";
import ProjectView from "./ProjectView.svelte";

beforeEach(async () => {
  reset();
  vi.restoreAllMocks();
  app.toasts.list = [];
  await app.openSample();
});

it("shows what the system says", async () => {
  render(ProjectView);
  expect(await screen.findByTestId("project-disk")).toHaveTextContent("Use an encrypted disk");
});

it("asks again for another project, and drops a late answer about the one before", async () => {
  let answer: (disk: DiskInfo) => void = () => {};
  const asked = vi.spyOn(commands, "diskInfo");
  asked.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  asked.mockResolvedValueOnce({ encryption: "encrypted", sentence: "The second." });
  render(ProjectView);
  await waitFor(() => expect(asked).toHaveBeenCalledTimes(1));
  app.project = { ...app.project!, path: "/other.dissensus" };
  expect(await screen.findByTestId("project-disk")).toHaveTextContent("The second.");
  answer({ encryption: "unknown", sentence: "The first." });
  await new Promise((resolve) => setTimeout(resolve));
  expect(screen.getByTestId("project-disk")).toHaveTextContent("The second.");
});

it("shows nothing and reports no problem where asking fails", async () => {
  const asked = vi.spyOn(commands, "diskInfo").mockRejectedValue({ code: "io", message: "no", detail: null });
  render(ProjectView);
  await waitFor(() => expect(asked).toHaveBeenCalled());
  await new Promise((resolve) => setTimeout(resolve));
  expect(screen.queryByTestId("project-disk")).toBeNull();
  expect(app.toasts.list).toEqual([]);
});
