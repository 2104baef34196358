// Links that come while another one is asked about or followed.
import { expect, it, vi } from "vitest";
import { commands } from "$bindings";
import type { LinkTarget } from "$api/bindings";
import { LinkStore } from "./link.svelte";
import { Toasts } from "./toasts.svelte";

const target = (host: string): LinkTarget => ({
  kind: "page",
  address: `https://${host}/`,
  host,
  file: "",
  unencrypted: false,
});

function store(toasts = new Toasts()) {
  vi.spyOn(commands, "readLink").mockImplementation((link) => Promise.resolve(target(link)));
  return new LinkStore({ attempt: (work) => work(), open: () => Promise.resolve(true), toasts });
}

it("asks about no other link in the place of one that is being confirmed", async () => {
  const toasts = new Toasts();
  const link = store(toasts);
  const opened = vi.spyOn(commands, "openPage").mockResolvedValue(null);
  await link.receive("trusted.example");
  expect(toasts.list).toEqual([]);
  await link.receive("evil.example");
  expect(link.asked?.host).toBe("trusted.example");
  expect(toasts.list).toMatchObject([{ message: "Another link was not followed", persistent: true }]);
  expect(toasts.list[0]?.detail).toContain("evil.example");
  await link.follow();
  expect(opened).toHaveBeenCalledExactlyOnceWith("https://trusted.example/");
  expect(link.asked).toBeNull();
  await link.receive("next.example");
  expect(link.asked?.host).toBe("next.example");
});

it("does nothing else while a link is followed", async () => {
  const toasts = new Toasts();
  const link = store(toasts);
  let end = () => {};
  const opened = vi
    .spyOn(commands, "openPage")
    .mockImplementation(() => new Promise((done) => (end = () => done(null))));
  await link.receive("a.example");
  const followed = link.follow();
  link.decline();
  await link.receive("b.example");
  await link.follow();
  expect(link.asked?.host).toBe("a.example");
  expect(toasts.list[0]?.detail).toContain("b.example");
  end();
  await followed;
  expect(opened).toHaveBeenCalledTimes(1);
  expect(link.asked).toBeNull();
});
