// Where the focus is once the control that had it is gone.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { focusView, holdFocus, isPage } from "./page-focus";

let release: () => void;

beforeEach(() => {
  document.body.innerHTML =
    '<main tabindex="-1"><ul id="list"><li id="row"><button id="delete">Delete</button></li></ul></main>' +
    '<div id="beside"><div id="dialog"><button id="ok">OK</button></div></div>';
  release = holdFocus();
});
afterEach(() => release());

const one = (id: string) => document.getElementById(id)!;
const focused = () => document.activeElement;

it("stays close to a control that disappears", async () => {
  one("delete").focus();
  one("row").remove();
  await vi.waitFor(() => expect(focused()).toBe(one("list")));
  expect(isPage(focused())).toBe(true);
  // Once it goes on, the list is no stop of the keyboard.
  one("ok").focus();
  expect(one("list")).not.toHaveAttribute("tabindex");
});

it("goes to the view where nothing else is left", async () => {
  one("ok").focus();
  one("beside").remove();
  await vi.waitFor(() => expect(focused()?.tagName).toBe("MAIN"));
  expect(isPage(focused())).toBe(true);
});

it("leaves the focus where a component has put it", async () => {
  one("delete").focus();
  one("row").remove();
  one("ok").focus();
  await new Promise((done) => setTimeout(done));
  expect(focused()).toBe(one("ok"));
  expect(isPage(focused())).toBe(false);
  focusView();
  expect(focused()).toBe(one("ok"));
});
