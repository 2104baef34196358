// Who is labelling: people of this project first, people from files on request.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { reset } from "../../mock/bindings";
import WhoIsLabelling from "./WhoIsLabelling.svelte";

const names = () => screen.queryAllByTestId("label-person").map((row) => row.textContent?.trim());

beforeEach(async () => {
  reset();
  await app.openSample();
  app.people = app.people.map((person, at) => ({ ...person, simulated: at > 3 }));
});

it("offers people known only from a file on request only", async () => {
  const user = userEvent.setup();
  render(WhoIsLabelling);
  expect(names()).toEqual([]);
  const more = screen.getByTestId("label-show-imported");
  expect(more).toHaveTextContent("Show imported people (8)");
  await user.type(screen.getByTestId("label-annotator-name"), "ama");
  expect(more).toHaveTextContent("Show imported people (1)");
  await user.click(more);
  expect(names()[0]).toContain("Amara");
  expect(screen.getByTestId("label-annotator-name")).toHaveFocus();
  await user.clear(screen.getByTestId("label-annotator-name"));
  expect(names()).toHaveLength(8);
});

it("lists the last annotator first, and marks a typed name of a person known from a file", async () => {
  await app.join("Zoe");
  await app.join("Robin");
  await app.join("Zoe");
  const user = userEvent.setup();
  render(WhoIsLabelling);
  await waitFor(() => expect(names()[0]).toContain("Zoe"));
  expect(names()).toHaveLength(2);
  await user.type(screen.getByTestId("label-annotator-name"), "Amara");
  expect(screen.getByTestId("label-known-from-file")).toHaveTextContent(
    "Amara was imported from a file: you would label as that person.",
  );
});

describe("a name that is new", () => {
  const typed = async (name: string) => {
    const user = userEvent.setup();
    render(WhoIsLabelling, { autofocus: true });
    await user.type(screen.getByTestId("label-annotator-name"), name);
    return user;
  };

  it.each(["4", "12", "y", "ä", "?", "５"])(
    "asks for confirmation if it looks like an answer: %s",
    async (name) => {
      const add = vi.spyOn(commands, "addAnnotator");
      const user = await typed(`${name}{Enter}`);
      expect(screen.getByTestId("label-ask-new")).toHaveTextContent(`New person “${name}”?`);
      expect(add).not.toHaveBeenCalled();
      // An Enter from habit adds nobody.
      await user.keyboard("{Enter}");
      expect(screen.getByTestId("label-annotator-name")).toHaveValue("");
      await user.type(screen.getByTestId("label-annotator-name"), `${name}{Enter}`);
      expect(add).not.toHaveBeenCalled();
      await user.click(screen.getByTestId("label-is-new"));
      await waitFor(() => expect(add).toHaveBeenCalledWith(name, {}));
    },
  );

  it("asks for confirmation if it is the name of a level", async () => {
    const question = app.project?.questions[0];
    if (!app.project || !question) return expect.unreachable("a question");
    const scale = { ...question.scale, levels: ["mild", "Café"] };
    app.project = { ...app.project, questions: [{ ...question, scale }] };
    await typed("cafe\u0301{Enter}");
    expect(screen.getByTestId("label-ask-new")).toBeVisible();
  });

  it("is added after confirmation as another person if it looks like a known name", async () => {
    await app.join("Zoé");
    app.toasts.list = [];
    await typed("Zoe{Enter}");
    await waitFor(() => expect(app.toasts.list).toHaveLength(1));
    expect(app.annotator?.name).toBe("Zoé");
    expect(app.toasts.list[0]?.act?.label).toBe("“Zoe” is another person");
    await app.toasts.list[0]?.act?.run();
    expect(app.annotator?.name).toBe("Zoe");
  });

  it("names the action on the button, and can be undone", async () => {
    app.toasts.list = [];
    const user = await typed("Robin");
    expect(screen.getByTestId("label-add-annotator")).toHaveTextContent("Add “Robin” and start");
    await user.keyboard("{Enter}");
    await waitFor(() => expect(app.annotator?.name).toBe("Robin"));
    const id = app.annotatorId ?? 0;
    const counts = { questions: 0, texts: 0, annotators: 1, answers: 0, attributes: 0 };
    const found = { name: "Robin", stays: null, imported_at: null, counts };
    vi.spyOn(commands, "removal").mockResolvedValue(found);
    const remove = vi.spyOn(commands, "remove").mockRejectedValue({ code: "x", message: "x", detail: null });
    const toast = app.toasts.list.find(({ act }) => act?.label === "Remove again");
    await toast?.act?.run();
    expect(remove).toHaveBeenCalledWith({ annotator: id });
    // A person who has labelled since is not removed.
    vi.mocked(commands.removal).mockResolvedValue({ ...found, stays: "Robin has labelled." });
    remove.mockClear();
    await toast?.act?.run();
    expect(remove).not.toHaveBeenCalled();
    expect(app.toasts.list.at(-1)).toMatchObject({ message: "“Robin” stays", detail: "Robin has labelled." });
  });
});
