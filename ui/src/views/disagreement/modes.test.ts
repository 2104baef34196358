// Modes that replace the ranking are closed by Escape, by the view's own key, and by one button.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import { app } from "$stores/app.svelte";
import { perform } from "$stores/actions";
import { reset } from "../../mock/bindings";
import DisagreementView from "./DisagreementView.svelte";

const ENTER = {
  groups: () => user.click(screen.getByTestId("compare-groups")),
  panel: () => user.click(screen.getByTestId("ask-panel")),
  // Of the palette alone.
  correlation: async () => perform("disagreement.questions"),
};
const MODES = Object.keys(ENTER) as (keyof typeof ENTER)[];
let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  reset();
  await app.openSample();
  app.show("findings-texts");
  user = userEvent.setup();
  render(DisagreementView);
  await screen.findByTestId("ranking-list");
});

const left = () => waitFor(() => expect(screen.getByTestId("ranking-list")).toBeVisible());

describe.each(MODES)("%s", (mode) => {
  beforeEach(async () => {
    await ENTER[mode]();
    await waitFor(() => expect(screen.queryByTestId("ranking-list")).toBeNull());
  });

  it("closes on Escape", async () => {
    await user.keyboard("{Escape}");
    await left();
  });

  it("closes on the second Escape in one of its fields: the first leaves the field", async () => {
    const field = document.querySelector<HTMLElement>('.left input:not([type="checkbox"])');
    if (!field) return;
    field.focus();
    await user.keyboard("{Escape}{Escape}");
    await left();
  });

  it("closes when the view is requested again", async () => {
    perform("view.findings-texts");
    await left();
  });

  it("closes by a button at the same position as in other modes, with a unique name", async () => {
    const places = () =>
      [...document.querySelectorAll("header button, .tools button")].map((one) => one.textContent?.trim());
    const here = places();
    for (const other of MODES.filter((one) => one !== mode)) {
      await ENTER[other]();
      expect(places()).toEqual(here);
    }
    await user.click(screen.getByTestId("mode-back"));
    await left();
  });
});
