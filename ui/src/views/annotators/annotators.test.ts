// The table sorts, and table and map choose the same person.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { app } from "$lib/app.svelte";
import { reset, say } from "../../mock/bindings";
import AnnotatorsView from "./AnnotatorsView.svelte";

beforeEach(async () => {
  reset();
  await app.openSample();
});

it("chooses by the map with the keyboard", async () => {
  const user = userEvent.setup();
  // jsdom measures nothing, and on a map without a size all places are one.
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(400);
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(300);
  render(AnnotatorsView);
  await waitFor(() => expect(screen.getAllByTestId("map-point")).toHaveLength(8));
  screen.getAllByTestId("map-point")[0]?.focus();
  await waitFor(() => expect(screen.getByTestId("annotator-detail")).toHaveTextContent("Amara"));
  await user.keyboard("{ArrowRight}");
  await waitFor(() => expect(screen.getByTestId("annotator-detail")).not.toHaveTextContent("Amara"));
});

it("says when its figures are older than the labels", async () => {
  await app.start();
  render(AnnotatorsView);
  await waitFor(() => expect(screen.getByTestId("annotators-update")).toHaveTextContent("Refresh"));
  say("labelsChanged", { question: 1, text: 1, annotator: 1, revision: 2 });
  await waitFor(() =>
    expect(screen.getByTestId("annotators-update")).toHaveTextContent("New labels · refresh"),
  );
});
