// How a submission leaves the page: sent to an address, shared from a phone, or downloaded.
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { PageContent } from "$api/bindings";
import { handed } from "./handed.svelte";
import { Journal } from "./journal";
import { memoryStorage } from "./memory-storage";
import { Session } from "./session";

const { content } = JSON.parse(readFileSync("src/page/cases/one-question.json", "utf8")) as {
  content: PageContent;
};
const [question] = content.questions.map(({ id }) => id) as [number];
const DETAILS = { note: { note: null, reasons: [], confidence: null }, guideline: null };
const TARGET = { url: "https://osf.example/api/data", fields: { experimentID: "abc" } };
const FILE = "ada.handin";

/** Names of the files that were downloaded. */
let downloads: string[];

beforeEach(() => {
  downloads = [];
  URL.createObjectURL = () => "blob:file";
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    downloads.push(this.download);
  });
});

const realFetch = fetch;

afterEach(() => {
  vi.stubGlobal("fetch", realFetch);
  for (const name of ["share", "canShare"]) Reflect.deleteProperty(navigator, name);
});

/** A session with one answer. */
async function begun(more: Partial<PageContent> = {}): Promise<Session> {
  const journal = await Journal.open(memoryStorage(), { id: "copy", made_at_ms: 1 });
  const session = new Session({ ...content, ...more }, journal);
  const { annotator, assignments } = content;
  const text = assignments[0]?.text ?? 0;
  const answer = { kind: "level", value: 1 } as const;
  await session.desk.recordLabel(
    { question, annotator: annotator.id, text, answer, duration_ms: 5 },
    DETAILS,
  );
  return session;
}

/** What the address answers. */
const receiver = (answer: () => Promise<Partial<Response>>) => {
  const fetching = vi.fn<typeof fetch>(answer as typeof fetch);
  vi.stubGlobal("fetch", fetching);
  return fetching;
};

it("sends a submission with the fields that the study has set", async () => {
  const fetching = receiver(async () => ({ ok: true }));
  const session = await begun({ target: TARGET });
  const text = () => session.submission(1).split("\n").slice(1, -2);
  const before = text();
  const { file, given } = await session.send();
  const [address, { method, headers, body }] = fetching.mock.calls[0] as [string, RequestInit];
  expect([address, method]).toEqual([TARGET.url, "POST"]);
  expect(headers).toEqual({ "Content-Type": "application/json", Accept: "*/*" });
  const sent = JSON.parse(body as string) as Record<string, string>;
  expect(sent).toEqual({ experimentID: "abc", filename: file, data: expect.any(String) });
  expect(file).toMatch(/-\d+\.handin$/);
  expect(given).toBe(1);
  expect(sent.data?.split("\n").slice(1, -2)).toEqual(before);
  expect(session.desk.openPacket()).toMatchObject({ handed_in: expect.any(Number), since: 0 });
  expect(downloads).toEqual([]);
});

it("counts nothing as handed in that the address has refused", async () => {
  receiver(async () => ({ ok: false, status: 400, text: async () => `no ${"x".repeat(500)}` }));
  const session = await begun({ target: TARGET });
  await expect(session.send()).rejects.toMatchObject({
    code: "page-target",
    message: "Your answers could not be sent to osf.example.",
    detail: expect.stringMatching(/^400 no x{100,197}$/) as string,
  });
  expect(session.desk.openPacket()).toMatchObject({ handed_in: null, since: 1 });
});

it("downloads a file where the address cannot be reached, which hands nothing in", async () => {
  receiver(() => Promise.reject(new TypeError("Failed to fetch")));
  const session = await begun({ target: TARGET });
  await expect(session.send()).rejects.toMatchObject({
    code: "page-target",
    detail: "TypeError: Failed to fetch",
  });
  await session.handIn(FILE);
  expect(downloads).toEqual([FILE]);
  expect(session.desk.openPacket()).toMatchObject({ handed_in: null, since: 1 });
});

it("hands nothing in at an address that forwards, where browsers send no body", async () => {
  const fetching = receiver(async () => ({ ok: false, type: "opaqueredirect" }));
  const session = await begun({ target: TARGET });
  await expect(session.send()).rejects.toMatchObject({
    code: "page-target-forwards",
    message: expect.stringContaining("osf.example forwards to another address") as string,
  });
  expect(fetching.mock.calls[0]?.[1]?.redirect).toBe("manual");
  expect(session.desk.openPacket().handed_in).toBeNull();
});

/** A device that can share files, with its pointer. */
function device(pointer: "coarse" | "fine", share: () => Promise<void>, can = true) {
  vi.spyOn(window, "matchMedia").mockImplementation(
    (query) => ({ matches: query === `(pointer: ${pointer})` }) as MediaQueryList,
  );
  const sharing = vi.fn(share);
  Object.assign(navigator, { share: sharing, canShare: () => can });
  return sharing;
}

it("shares the file on a phone", async () => {
  const sharing = device("coarse", async () => {});
  const session = await begun();
  await session.handIn(FILE);
  const [{ files }] = sharing.mock.calls[0] as unknown as [{ files: File[] }];
  expect(files.map(({ name }) => name)).toEqual([FILE]);
  expect(files[0]?.size).toBeGreaterThan(100);
  expect([handed.by, downloads]).toEqual(["shared", []]);
  expect(session.desk.openPacket().since).toBe(0);
});

it("hands nothing in where sharing is cancelled", async () => {
  device("coarse", () => Promise.reject(new DOMException("closed", "AbortError")));
  const session = await begun();
  await session.handIn(FILE);
  expect([handed.by, downloads]).toEqual(["cancelled", []]);
  expect(session.desk.openPacket()).toMatchObject({ handed_in: null, since: 1 });
});

it.each([
  [
    "the browser refuses to share",
    () => device("coarse", () => Promise.reject(new DOMException("", "NotAllowedError"))),
  ],
  ["the browser cannot share such files", () => device("coarse", async () => {}, false)],
  ["there is a mouse", () => device("fine", async () => {})],
])("downloads the file where %s", async (_, prepare) => {
  prepare();
  const session = await begun();
  await session.handIn(FILE);
  expect([handed.by, downloads]).toEqual(["saved", [FILE]]);
  expect(session.desk.openPacket().since).toBe(0);
});
