// Resizable panes, and placeholders for loading content.
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { speak } from "$messages/messages.svelte";
import { app } from "$stores/app.svelte";
import { reset } from "../mock/bindings";
import AnnotatorsView from "$views/annotators/AnnotatorsView.svelte";
import ModelsView from "$views/models/ModelsView.svelte";
import StudyView from "$views/study/StudyView.svelte";

const WHOLE = 1000;

beforeEach(async () => {
  localStorage.clear();
  reset();
  await app.openSample();
});

/** The line between two panes that have a thousand pixels of room, the first 600 of them. */
async function line() {
  render(ModelsView);
  const found = await screen.findByTestId("splitter-models");
  const [first, room] = [found.parentElement, found.parentElement?.parentElement];
  if (!first || !room) throw new Error("the line is in no pane");
  const wide = () => Number(/, ([\d.]+)fr\)/.exec(columns(found))?.[1] ?? 0.6) * WHOLE;
  Object.defineProperty(room, "clientWidth", { get: () => WHOLE });
  Object.defineProperty(first, "clientWidth", { get: wide });
  return found;
}

const columns = (of: HTMLElement) => of.parentElement?.parentElement?.style.gridTemplateColumns ?? "";
const share = (of: HTMLElement) => Number(/, ([\d.]+)fr\)/.exec(columns(of))?.[1]);
const drag = async (of: HTMLElement, to: number) => {
  await fireEvent.pointerDown(of, { button: 0, clientX: 600 });
  await fireEvent.pointerMove(of, { clientX: to });
  await fireEvent.pointerUp(of);
};

it("follows the drag within the minimum size of the panes, and is stored", async () => {
  const found = await line();
  expect(columns(found)).toBe("");
  await drag(found, 500);
  expect(share(found)).toBeCloseTo(0.5);
  await drag(found, 10);
  expect(share(found)).toBeCloseTo(0.33);
  await drag(found, 990);
  expect(share(found)).toBeCloseTo(0.64);
  cleanup();
  expect(share(await line())).toBeCloseTo(0.64);
});

it("moves by keys, which nothing else handles, and is reset by Enter or a double click", async () => {
  const listener = vi.fn();
  window.addEventListener("keydown", listener);
  const found = await line();
  await fireEvent.keyDown(found, { key: "ArrowLeft" });
  expect(share(found)).toBeCloseTo(0.584);
  await fireEvent.keyDown(found, { key: "ArrowRight", shiftKey: true });
  expect(share(found)).toBeCloseTo(0.64);
  await fireEvent.keyDown(found, { key: "Home" });
  expect(share(found)).toBeCloseTo(0.33);
  expect(listener).not.toHaveBeenCalled();
  await fireEvent.keyDown(found, { key: "Enter" });
  expect(columns(found)).toBe("");
  await drag(found, 500);
  await fireEvent.dblClick(found);
  expect(columns(found)).toBe("");
  expect(localStorage.getItem("dissensus.pane.models")).toBeNull();
  window.removeEventListener("keydown", listener);
});

it("moves the other way in a language that is written from right to left", async () => {
  const found = await line();
  speak("ar");
  try {
    await fireEvent.keyDown(found, { key: "ArrowLeft" });
    expect(share(found)).toBeCloseTo(0.616);
    const room = found.parentElement?.parentElement;
    if (!room) throw new Error("the line is in no pane");
    room.getBoundingClientRect = () => new DOMRect(0, 0, WHOLE, 100);
    await drag(found, 400);
    expect(share(found)).toBeCloseTo(0.6);
  } finally {
    speak("en");
  }
});

it("stays without a drag, and if the stored value is invalid", async () => {
  localStorage.setItem("dissensus.pane.models", '"wide"');
  const found = await line();
  await fireEvent.pointerMove(found, { clientX: 300 });
  await fireEvent.keyDown(found, { key: "x" });
  expect(columns(found)).toBe("");
});

it("shows a skeleton while the page loads", async () => {
  vi.spyOn(commands, "annotatorReport").mockReturnValue(new Promise(() => {}));
  render(AnnotatorsView);
  expect(await screen.findByTestId("annotators-waiting")).toHaveTextContent("Calculating");
  let answer: (report: never) => void = () => {};
  vi.spyOn(commands, "studyReport").mockReturnValue(new Promise((done) => (answer = done)));
  render(StudyView);
  expect(await screen.findByTestId("study-waiting")).toBeInTheDocument();
  answer({ people: [] } as never);
  await waitFor(() => expect(screen.queryByTestId("study-waiting")).toBeNull());
});
