import { expect, it } from "vitest";
import { problem } from "./refusals";

it("fills placeholders in order", () => {
  expect(problem("project-locked", ["/a/S.dissensus", "dissensus-window, process 7"])).toEqual({
    code: "project-locked",
    message: "/a/S.dissensus is open already (dissensus-window, process 7); close it there first",
    detail: null,
  });
});
