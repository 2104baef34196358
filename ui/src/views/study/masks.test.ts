// Masking of names and addresses: rules, what they find, exceptions, and the state in the plan.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { linesOf, sameRules } from "$logic/masks";
import { app } from "$stores/app.svelte";
import { reset } from "../../mock/bindings";
import MaskDialog from "./MaskDialog.svelte";
import PlanStudyDialog from "./PlanStudyDialog.svelte";

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  reset();
  await app.openSample();
  user = userEvent.setup();
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

async function openDialog() {
  const [onsaved, onclose] = [vi.fn(), vi.fn()];
  render(MaskDialog, { settings: await commands.maskSettings(), onsaved, onclose });
  await screen.findByText("No rule is on, so nothing is masked.");
  return { onsaved, onclose };
}

it("shows what a list of words finds, leaves a finding as it is, and saves", async () => {
  const { onsaved, onclose } = await openDialog();
  const save = () => screen.getByTestId<HTMLButtonElement>("mask-save");
  expect(save().disabled, "nothing was changed").toBe(true);
  await user.click(screen.getByTestId("mask-words"));
  await user.type(screen.getByTestId("mask-word-list"), "opinion{Enter}nobody");
  await waitFor(() => expect(screen.getAllByTestId("mask-found").length).toBeGreaterThan(1));
  const before = screen.getByTestId("mask-count").textContent;
  const row = screen.getAllByTestId("mask-found")[0];
  expect(row?.querySelector("mark")?.textContent.toLowerCase()).toMatch(/opinion|nobody/);
  await user.click(screen.getAllByTestId("mask-leave")[0] as HTMLElement);
  await waitFor(() => expect(screen.getByTestId("mask-count").textContent).not.toBe(before));
  expect(screen.getByTestId("mask-count").textContent).toMatch(/stays? as (it is|they are)/);
  expect(screen.getByText("Mask again")).toBeTruthy();
  await user.click(save());
  await waitFor(() => expect(onclose).toHaveBeenCalled());
  expect(onsaved.mock.calls[0]?.[0].rules.words).toEqual(["opinion", "nobody"]);
  expect((await commands.maskSettings()).rules.except).toHaveLength(1);
});

it("says what is wrong with a regular expression, and does not save it", async () => {
  await openDialog();
  await user.click(screen.getByTestId("mask-pattern"));
  expect((await screen.findByTestId("mask-problem")).textContent).toContain("has none");
  await user.type(screen.getByTestId("mask-regex"), "a(");
  await waitFor(() => expect(screen.getByTestId("mask-problem").textContent).toContain("line 1, column 1"));
  expect(screen.getByTestId<HTMLInputElement>("mask-regex").getAttribute("aria-invalid")).toBe("true");
  expect(screen.getByTestId<HTMLButtonElement>("mask-save").disabled).toBe(true);
  await user.type(screen.getByTestId("mask-regex"), ")");
  await waitFor(() => expect(screen.queryByTestId("mask-problem")).toBeNull());
});

it("adds chosen proposals to the list, and says where none can be made", async () => {
  const candidate = { places: 3, text: "t1", before: "I saw ", after: " today" };
  const proposals = vi.spyOn(commands, "nameCandidates");
  proposals.mockResolvedValueOnce({ applies: false, candidates: [] });
  await openDialog();
  await user.click(screen.getByTestId("mask-propose"));
  expect((await screen.findByTestId("mask-names")).textContent).toContain("without capitals");
  proposals.mockResolvedValueOnce({
    applies: true,
    candidates: [
      { word: "Ada", ...candidate },
      { word: "Paris", ...candidate },
    ],
  });
  await user.click(screen.getByTestId("mask-propose"));
  await user.click(screen.getByTestId("mask-propose"));
  await user.click(await screen.findByLabelText(/Ada/));
  await user.click(screen.getByTestId("mask-add"));
  expect(screen.getByTestId<HTMLTextAreaElement>("mask-word-list").value).toBe("Ada");
  expect(screen.queryByTestId("mask-names")).toBeNull();
});

it("shows the state in the plan of a study", async () => {
  await commands.setMasks({ on: ["email", "web"], words: [], exact: false, pattern: "", except: [] });
  render(PlanStudyDialog, {
    study: await commands.studyReport(),
    planned: null,
    onclose: () => {},
    onhowmany: () => {},
  });
  expect((await screen.findByTestId("study-masks")).textContent).toContain("2 rules mask parts");
  await user.click(screen.getByTestId("study-mask"));
  await user.click(await screen.findByTestId("mask-email"));
  await user.click(screen.getByTestId("mask-web"));
  await user.click(screen.getByTestId("mask-save"));
  expect((await screen.findByTestId("study-masks")).textContent).toContain("Nothing is masked");
});

it("compares rules whatever their order", () => {
  const rules = { on: ["web", "email"], words: ["b", "a"], exact: false, pattern: "", except: [] } as const;
  const one = { ...rules, on: [...rules.on], words: [...rules.words], except: [] };
  expect(sameRules(one, { ...one, on: ["email", "web"], words: ["a", "b"] })).toBe(true);
  expect(sameRules(one, { ...one, exact: true })).toBe(false);
  expect(sameRules(one, { ...one, except: [{ found: "a", text: null }] })).toBe(false);
  expect(linesOf(" Ada \r\n\nBo\nAda\n")).toEqual(["Ada", "Bo"]);
});
