// Of many options one is found by its name: keys go no further than nine, and names often begin alike.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { NO_HELP } from "$kinds/level/level-list";
import { reset } from "../../mock/bindings";
import LabelView from "$views/label/LabelView.svelte";

const asked = async (count: number) => {
  reset();
  await app.openSample();
  const levels = Array.from({ length: count }, (_, i) => `option ${i + 1}`);
  await commands.addQuestion("many", "What is in it?", { kind: "multi-label", levels }, null, NO_HELP, []);
  await app.refresh();
  await app.join("Robin");
  app.chooseQuestion(5);
  render(LabelView);
  await waitFor(() => expect(screen.getByTestId("label-text").dataset.textId).toBe("1"));
  return userEvent.setup();
};

beforeEach(() => (app.toasts.list = []));

it("is selected with / and part of its name by Enter, and submitted by the next Enter", async () => {
  const user = await asked(40);
  await user.keyboard("/37");
  expect(screen.getByTestId("option-filter")).toHaveFocus();
  expect(screen.getByTestId("level-36")).not.toBeVisible();
  expect(screen.getByTestId("level-37")).toBeVisible();
  await user.keyboard("{Enter}");
  expect(screen.getByTestId("level-37")).toHaveAttribute("aria-pressed", "true");
  expect(screen.getByTestId("level-36")).toBeVisible();
  await user.keyboard("{Enter}");
  await waitFor(() => expect(screen.getByTestId("label-set")).toHaveTextContent("Given: option 37"));
  // Nothing is chosen by leaving it.
  await user.keyboard("/12{Escape}");
  expect(screen.getByTestId("level-12")).toHaveAttribute("aria-pressed", "false");
  expect(screen.getByTestId("option-filter")).not.toHaveFocus();
});

it("is hidden if all options are visible", async () => {
  await asked(9);
  expect(screen.queryByTestId("option-filter")).toBeNull();
});
