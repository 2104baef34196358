// The study's questions about the person: written once, asked once, and optional.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { formOf, formProblem, attributeLine, type FormLine } from "$logic/attribute-form";
import AttributeFormDialog from "$views/annotators/AttributeFormDialog.svelte";
import { reset } from "../../mock/bindings";
import LabelView from "./LabelView.svelte";

const FORM = {
  attributes: [
    { name: "gender", prompt: "Which gender are you?", values: ["woman", "man"], optional: false },
    { name: "age", prompt: "", values: ["18–29", "30+"], optional: true },
  ],
};
let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  user = userEvent.setup();
  await app.openSample();
  app.show("label");
});

describe("asking", () => {
  it("is shown once, before the first text, and accepts a value or none", async () => {
    await commands.setAttributeForm(FORM);
    const answered = vi.spyOn(commands, "answerForm");
    await app.join("Robin");
    const view = render(LabelView);
    expect(await screen.findByText("Which gender are you?")).toBeVisible();
    expect(screen.queryByTestId("label-text")).toBeNull();
    await user.click(screen.getByTestId("about-done"));
    expect(answered).not.toHaveBeenCalled();
    expect(screen.getAllByTestId("not-answered")).toHaveLength(1);
    await user.click(screen.getByText("woman"));
    await user.keyboard("{Enter}");
    await waitFor(() => expect(answered).toHaveBeenCalledWith(app.annotatorId, { gender: "woman" }));
    await waitFor(() => expect(screen.getByTestId("label-text").dataset["textId"]).toBe("1"));
    view.unmount();
    render(LabelView);
    expect(await screen.findByTestId("label-text")).toBeVisible();
    expect(screen.queryByTestId("about-you")).toBeNull();
  });

  it("can be declined as a whole with one button", async () => {
    await commands.setAttributeForm(FORM);
    const answered = vi.spyOn(commands, "answerForm");
    await app.join("Robin");
    render(LabelView);
    await user.click(await screen.findByTestId("about-nothing"));
    await waitFor(() => expect(answered).toHaveBeenCalledWith(app.annotatorId, { gender: null, age: null }));
    expect(await screen.findByTestId("label-text")).toBeVisible();
  });

  it("stays on screen if the answer could not be stored", async () => {
    await commands.setAttributeForm(FORM);
    vi.spyOn(commands, "answerForm").mockRejectedValueOnce({
      code: "io",
      message: "the disk is full",
      detail: null,
    });
    await app.join("Robin");
    render(LabelView);
    await user.click(await screen.findByTestId("about-nothing"));
    await waitFor(() => expect(app.toasts.list[0]?.message).toMatch(/disk is full/i));
    expect(screen.getByTestId("about-you")).toBeVisible();
  });
});

describe("writing it", () => {
  it("accepts attributes with their values, including existing ones", async () => {
    const saved = vi.spyOn(commands, "setAttributeForm");
    app.dialog = "people-form";
    render(AttributeFormDialog);
    await user.click(await screen.findByText("role"));
    await user.click(screen.getByTestId("form-add"));
    await user.keyboard("gender");
    expect(screen.getByText(/“gender” needs at least two values/)).toBeVisible();
    expect(screen.getByTestId("form-save")).toBeDisabled();
    const [, values] = screen.getAllByTestId("form-values");
    if (!values) throw new Error("there are two attributes");
    await user.type(values, "woman, man ,");
    await user.click(screen.getByTestId("form-save"));
    await waitFor(() => expect(app.dialog).toBeNull());
    expect(saved.mock.calls[0]?.[0].attributes.map(({ name, values }) => [name, values])).toEqual([
      ["role", ["author", "moderator", "reader"]],
      ["gender", ["woman", "man"]],
    ]);
  });

  it("shows what is wrong with it", () => {
    const line = (name: string, values: string): FormLine => ({ name, values, prompt: "", optional: false });
    expect(formProblem([line("", "a, b")])).toMatch(/name/);
    expect(formProblem([line("x", "a, b"), line(" x ", "c, d")])).toMatch(/twice/);
    expect(formProblem([line("x", "a, a")])).toMatch(/twice/);
    expect(formProblem([line("x", "a, prefer not to say")])).toMatch(/always/);
    expect(formProblem([attributeLine({ name: "x", values: ["b", "a"] })])).toBeNull();
    expect(formOf([line(" x ", "a,b")]).attributes[0]).toEqual({
      name: "x",
      prompt: "",
      values: ["a", "b"],
      optional: false,
    });
  });
});
