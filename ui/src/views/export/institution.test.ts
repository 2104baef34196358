// The papers for an institution are written where somebody chooses, and their open places are counted.
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import * as platform from "$platform";
import { perform } from "$stores/actions";
import { app } from "$stores/app.svelte";
import { reset } from "../../mock/bindings";

beforeEach(async () => {
  vi.restoreAllMocks();
  reset();
  await app.openSample();
  app.toasts.list = [];
});

it("writes the papers into the chosen folder and counts what is left to fill in", async () => {
  const wrote = vi.spyOn(commands, "writeInstitutionPapers");
  perform("data.institution");
  await vi.waitFor(() => expect(app.toasts.list).toHaveLength(1));
  expect(wrote).toHaveBeenCalledWith(expect.stringContaining("papers"));
  expect(app.toasts.list[0]?.detail).toContain("papers.html");
  expect(app.toasts.list[0]?.detail).toContain("34 places");
});

it("writes nothing if no path is chosen, and shows why it failed", async () => {
  const wrote = vi.spyOn(commands, "writeInstitutionPapers");
  vi.spyOn(platform, "choosePapersFolder").mockResolvedValueOnce(null);
  expect(await app.outputs.writeInstitutionPapers()).toBe(false);
  expect(wrote).not.toHaveBeenCalled();
  wrote.mockRejectedValueOnce({ code: "report-changed", message: "files were changed", detail: null });
  expect(await app.outputs.writeInstitutionPapers()).toBe(false);
  expect(app.toasts.list.at(-1)?.message).toContain("were changed");
  wrote.mockRejectedValueOnce({ code: "cancelled", message: "stopped", detail: null });
  expect(await app.outputs.writeInstitutionPapers()).toBe(false);
  expect(app.toasts.list.at(-1)?.message).toContain("were stopped");
});
