// The summary of Findings, with which a project opens that has labels.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import { readdirSync, readFileSync } from "node:fs";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { alphaWords, stepWords } from "$words/overview";
import App from "../../App.svelte";
import { playPacket, reset } from "../../mock/bindings";

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  localStorage.clear();
  reset();
  app.toasts.list = [];
  user = userEvent.setup();
  await app.openSample();
});

describe("opening a project", () => {
  it("shows what the project contains, without a list of people", async () => {
    render(App);
    expect(await screen.findByTestId("summary")).toBeVisible();
    expect(app.view).toBe("findings");
    expect(screen.queryByTestId("label-person")).toBeNull();
    const [first, second] = await screen.findAllByTestId("summary-question");
    if (!first || !second) throw new Error("there are two questions");
    await waitFor(() =>
      expect(within(first).getByTestId("summary-alpha")).toHaveTextContent("0.48 95 % interval 0.41 to 0.55"),
    );
    await waitFor(() =>
      expect(within(second).getByTestId("summary-alpha")).toHaveTextContent("Too few labels. 20 texts"),
    );
    // The question that is chosen comes first.
    app.showFigures(2);
    await waitFor(() => expect(screen.getAllByTestId("summary-question")[0]).toHaveTextContent(/^remove/));
  });

  it("shows the desk and no figures in a packet", async () => {
    await app.join("Robin");
    playPacket(app.annotatorId ?? 0, [{ text: 2, occasion: 1 }]);
    const asked = vi.spyOn(commands, "overview");
    await app.openSample();
    render(App);
    await waitFor(() => expect(screen.getByTestId("label-text").dataset["textId"]).toBe("2"));
    app.show("findings");
    expect(app.view).toBe("label");
    expect(asked).not.toHaveBeenCalled();
  });

  it("continues with Enter as the last annotator", async () => {
    await app.join("Robin");
    await app.openSample();
    render(App);
    const step = await screen.findByTestId("summary-step");
    expect(step).toHaveTextContent("Label as Robin");
    await waitFor(() => expect(step).toHaveFocus());
    await user.keyboard("{Enter}");
    await waitFor(() => expect(screen.getByTestId("label-text").dataset["textId"]).toBe("1"));
  });

  it("shows slow figures once they are ready, and the rest at once", async () => {
    let come: (value: never) => void = () => undefined;
    const slow = vi
      .spyOn(commands, "overviewAgreement")
      .mockReturnValue(new Promise((done) => (come = done)));
    render(App);
    const [first] = await screen.findAllByTestId("summary-question");
    if (!first) throw new Error("there is a question");
    expect(within(first).getByTestId("summary-alpha")).toHaveTextContent("Calculating: agreement");
    come({
      question: 1,
      alpha: 0.3,
      low: 0.2,
      high: 0.4,
      like_these: true,
      these_low: 0.25,
      these_high: 0.35,
      metric: "ordinal",
      shared: 50,
      needs: null,
    } as never);
    await waitFor(() => expect(within(first).getByTestId("summary-alpha")).toHaveTextContent("0.30"));
    slow.mockRestore();
  });
});

describe("its words", () => {
  it("name the next step, by how much data there is", () => {
    expect(stepWords({ kind: "import", count: null }, null).action).toBe("data.import");
    expect(stepWords({ kind: "label", count: 12 }, "Ana").why).toBe("12 texts left to answer.");
    expect(stepWords({ kind: "plan", count: 0 }, null).why).toContain("No text has labels by two people");
    expect(stepWords({ kind: "take_in", count: 1 }, null).why).toBe(
      "1 packet handed out, none submitted yet.",
    );
  });

  it("name what cannot be estimated", () => {
    const none = { low: null, high: null, like_these: false, these_low: null, these_high: null };
    const figures = { question: 1, alpha: null, ...none, metric: "nominal", shared: 2 };
    expect(alphaWords({ ...figures, needs: "20 texts are needed." })).toBe(
      "Too few labels. 20 texts are needed.",
    );
    expect(alphaWords({ ...figures, alpha: 1, needs: null })).toBe("nobody differs");
    const known = {
      ...figures,
      alpha: 0.4,
      low: 0.2,
      high: 0.6,
      these_low: 0.3,
      these_high: 0.5,
      needs: null,
    };
    expect(alphaWords({ ...known, like_these: true })).toBe(
      "95 % interval 0.20 to 0.60 for people like these, 0.30 to 0.50 for these people",
    );
    expect(alphaWords(known)).toContain("for these people; fewer than five people");
  });
});

describe("who differs, and why", () => {
  it("describes all labels without a choice, and opens groups and people", async () => {
    const asked = vi.spyOn(commands, "compareGroups");
    render(App);
    expect(await screen.findByTestId("who-shares")).toHaveTextContent("32 % the text, 18 % the person");
    expect(screen.getByTestId("who-attributes")).toHaveTextContent("No attribute explains more than 20 %");
    const [age, role] = screen.getAllByTestId("who-attribute");
    if (!age || !role) throw new Error("there are two attributes");
    expect(age).toHaveTextContent(/age shown/);
    expect(role).toHaveTextContent(/role not shown/);
    await user.click(role);
    // Among the texts, and compared at once.
    expect(await screen.findByTestId("group-comparison")).toBeVisible();
    expect(app.view).toBe("findings-texts");
    await waitFor(() => expect(asked).toHaveBeenCalledTimes(1));
    expect(asked.mock.calls[0]?.[1].a.attributes).toEqual([["role", "moderator"]]);
    expect(app.compared).toEqual(asked.mock.calls[0]?.[1]);
  });

  it("opens a person of either end", async () => {
    render(App);
    const people = await screen.findAllByTestId("who-person");
    expect(people).toHaveLength(8);
    await user.click(people[0] as HTMLElement);
    expect(app.view).toBe("people");
  });

  it("can be stopped and asked for again", async () => {
    const problem = { code: "cancelled", message: "stopped", detail: null };
    const asked = vi.spyOn(commands, "whoDiffers").mockRejectedValueOnce(problem);
    render(App);
    await user.click(await screen.findByRole("button", { name: "Try again" }));
    expect(await screen.findByTestId("who-shares")).toBeVisible();
    expect(asked.mock.calls.length).toBeGreaterThan(1);
  });
});

it("scrolls as one page: nothing in it scrolls by itself", () => {
  for (const name of readdirSync("src/views/summary").filter((name) => /svelte$/.test(name))) {
    const source = readFileSync(`src/views/summary/${name}`, "utf8");
    expect(source, name).not.toMatch(/overflow(?:-y)?:\s*(?:auto|scroll)/);
    if (name !== "SummaryView.svelte") expect(source, name).not.toMatch(/class="[^"]*\bscroll\b/);
  }
});
