// Descriptions of background jobs.
import { expect, it } from "vitest";
import { jobState } from "./jobs";

it("states that work resumes only if it does", () => {
  const job = { id: 1, title: "", done: 0, total: null, seconds_left: null, note: null, problem: null };
  const broken = (kind: string) => jobState({ ...job, kind, state: "interrupted" });
  expect(broken("encode")).toBe("interrupted; will resume where it stopped");
  expect(broken("train")).toBe("interrupted; will resume where it stopped");
  expect(broken("compare")).toBe("interrupted");
  expect(broken("words")).toBe("interrupted");
  expect(jobState({ ...job, kind: "encode", state: "finished" })).toBe("done");
});
