import { expect, test } from "vitest";
import { Sender } from "./sender.svelte";

type Outcome = "ok" | "offline" | "cut" | "portal" | number;

/** A page of which the test decides what happens to each request. */
function pageWith(records: number) {
  const page = {
    records,
    outcomes: [] as Outcome[],
    /** Size of a submission. */
    bytes: 0,
    complete: false,
    /** Sizes of what was sent as the page was closed. */
    closing: [] as number[],
    /** Of a problem that the server sends. */
    code: "merge-withdrawn",
    /** What the server has on its disk. */
    stored: [] as number[],
    pauses: [] as number[],
    next: null as (() => void) | null,
    hold: null as Promise<void> | null,
  };
  const sender = new Sender({
    count: () => page.records,
    submission: () => String(page.records).padEnd(page.bytes),
    isComplete: () => page.complete,
    put: async (content, closing) => {
      if (closing) page.closing.push(content.length);
      const outcome = page.outcomes.shift() ?? "ok";
      if (page.hold) await page.hold;
      if (outcome === "ok" || outcome === "cut") page.stored.push(Number(content));
      if (outcome === "offline" || outcome === "cut") throw new TypeError("Failed to fetch");
      const status = outcome === "ok" || outcome === "portal" ? 200 : outcome;
      const json = async (): Promise<unknown> => {
        if (outcome === "portal") throw new SyntaxError("Unexpected token '<'");
        return outcome === "ok" ? { answers: 1 } : { code: page.code, message: "No.", detail: null };
      };
      return { ok: status === 200, status, json };
    },
    wait: (milliseconds, work) => {
      page.pauses.push(milliseconds);
      page.next = work;
      return () => (page.next = null);
    },
  });
  const go = async () => {
    const work = page.next;
    page.next = null;
    work?.();
    for (let n = 0; n < 20; n++) await Promise.resolve();
  };
  return { page, sender, go };
}

test("what is answered is sent once and confirmed", async () => {
  const { page, sender, go } = pageWith(0);
  sender.start();
  expect(page.next).toBeNull();
  page.records = 2;
  sender.changed();
  expect(sender.left).toBe(2);
  await go();
  expect([sender.left, page.stored]).toEqual([0, [2]]);
  expect(page.next).toBeNull();
});

test("a failed request is repeated after longer and longer pauses, and nothing is lost", async () => {
  const { page, sender, go } = pageWith(1);
  page.outcomes = ["offline", 503, "cut", 429, "portal", "offline", "offline", "offline"];
  sender.start();
  for (let n = 0; n < 8; n++) {
    await go();
    expect([sender.left, sender.waiting]).toEqual([1, true]);
  }
  const pauses = page.pauses.slice(1);
  for (const [n, pause] of pauses.entries()) {
    const middle = Math.min(1000 * 2 ** n, 30_000);
    expect(pause).toBeGreaterThanOrEqual(middle * 0.75);
    expect(pause).toBeLessThanOrEqual(middle * 1.25);
  }
  await go();
  expect([sender.left, sender.waiting]).toEqual([0, false]);
  expect(page.stored).toEqual([1, 1]);
});

test("what comes during a request is sent after it", async () => {
  const { page, sender, go } = pageWith(1);
  let release = () => {};
  page.hold = new Promise((done) => (release = done));
  sender.start();
  await go();
  page.records = 3;
  sender.changed();
  await go();
  expect(page.stored).toEqual([]);
  page.hold = null;
  release();
  await go();
  expect(sender.left).toBe(2);
  await go();
  expect([sender.left, page.stored]).toEqual([0, [1, 3]]);
});

test("a page that is opened again counts nothing as sent until the server has it", async () => {
  const { page, sender, go } = pageWith(4);
  expect(sender.left).toBe(4);
  sender.start();
  await go();
  expect([sender.left, page.stored]).toEqual([0, [4]]);
});

test("a refusal is shown, not repeated by itself, and tried again after the next answer", async () => {
  const { page, sender, go } = pageWith(1);
  page.outcomes = [409];
  sender.start();
  await go();
  expect([sender.left, sender.problem?.code, page.next]).toEqual([1, "merge-withdrawn", null]);
  sender.now();
  expect(page.next).toBeNull();
  page.records = 2;
  sender.changed();
  await go();
  expect([sender.left, sender.problem]).toEqual([0, null]);
});

test.each([
  ["merge-withdrawn", "The study has no place for these answers any more."],
  ["too-large", "This is more than the server takes at once."],
  ["too-many-requests", "No."],
  ["received-set-aside", "The server cannot use these answers (received-set-aside)."],
])("the problem %s is worded in the language of the page", async (code, message) => {
  const { page, sender, go } = pageWith(1);
  [page.outcomes, page.code] = [[409], code];
  sender.start();
  await go();
  expect(sender.problem).toEqual({ code, message, detail: null });
});

test("the more there is to send, the more answers go together", async () => {
  const { page, sender, go } = pageWith(1);
  for (const bytes of [100, 200_000]) {
    page.bytes = bytes;
    page.records += 1;
    sender.changed();
    await go();
  }
  // Further answers do not put it off.
  for (let n = 0; n < 3; n++) {
    page.records += 1;
    sender.changed();
  }
  expect(page.pauses).toEqual([400, 404, 5000]);
  await go();
  expect(sender.left).toBe(0);
});

test("the last answer is sent at once", async () => {
  const { page, sender, go } = pageWith(1);
  page.bytes = 200_000;
  sender.changed();
  await go();
  [page.records, page.complete] = [2, true];
  sender.changed();
  expect(page.pauses).toEqual([400, 400]);
});

test("what is too large to outlive its page is sent while it is hidden", async () => {
  const { page, sender, go } = pageWith(1);
  sender.close();
  expect(page.closing).toEqual([1]);
  page.bytes = 70_000;
  sender.close();
  expect([page.closing, page.pauses]).toEqual([[1], [0]]);
  await go();
  expect(sender.left).toBe(0);
});
