// Descriptions of background jobs.
import { expect, it } from "vitest";
import { jobState, jobTitle } from "./jobs";

it("states that work resumes only if it does", () => {
  const job = { id: 1, title: "", done: 0, total: null, seconds_left: null, note: null, problem: null };
  const broken = (kind: string) => jobState({ ...job, kind, state: "interrupted" });
  expect(broken("encode")).toBe("interrupted; will resume where it stopped");
  expect(broken("train")).toBe("interrupted; will resume where it stopped");
  expect(broken("compare")).toBe("interrupted");
  expect(broken("words")).toBe("interrupted");
  expect(jobState({ ...job, kind: "encode", state: "finished" })).toBe("done");
});

it("names what a job does, and shows the title of one that the window does not know", () => {
  const job = { id: 1, done: 0, total: null, seconds_left: null, note: null, problem: null };
  const title = (kind: string, title: string) => jobTitle({ ...job, kind, title, state: "running" });
  expect(title("import", "texts.csv")).toBe("Importing texts.csv");
  expect(title("train", "sep-heads, last-2")).toBe("Training Separate heads, last-2");
  expect(title("evaluate", "accuracy for each annotator")).toBe("Evaluating accuracy for each annotator");
  expect(title("evaluate", "unusual labels")).toBe("Evaluating unusual labels");
  expect(title("compare", "groups")).toBe("Comparing groups");
  expect(title("words", "")).toBe("Leaving out words");
  expect(title("sort", "texts")).toBe("sort texts");
});
