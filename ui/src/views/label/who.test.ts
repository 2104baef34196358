// Who is labelling: people of this project first, those who stand in files alone when they are asked for.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it } from "vitest";
import { app } from "$lib/app.svelte";
import { reset } from "../../mock/bindings";
import WhoIsLabelling from "./WhoIsLabelling.svelte";

const names = () => screen.queryAllByTestId("label-person").map((row) => row.textContent?.trim());

beforeEach(async () => {
  reset();
  await app.openSample();
  app.people = app.people.map((person, at) => ({ ...person, simulated: at > 3 }));
});

it("offers nobody who stands in a file alone before that is asked for", async () => {
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

it("has whoever labelled last first, and says so where a name that is typed is somebody's of a file", async () => {
  await app.join("Zoe");
  await app.join("Robin");
  await app.join("Zoe");
  const user = userEvent.setup();
  render(WhoIsLabelling);
  await waitFor(() => expect(names()[0]).toContain("Zoe"));
  expect(names()).toHaveLength(2);
  await user.type(screen.getByTestId("label-annotator-name"), "Amara");
  expect(screen.getByTestId("label-known-from-file")).toHaveTextContent(
    "Amara is in the project from a file: you would label as that person.",
  );
});
