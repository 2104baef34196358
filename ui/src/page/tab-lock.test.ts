// One page at a time, in a browser without locks: pages ask one another.
import { expect, it } from "vitest";
import { takeLock } from "./tab-lock";

it("refuses a second page until the first is gone", async () => {
  // jsdom has no locks.
  expect(navigator.locks).toBeUndefined();
  const release = await takeLock("a");
  expect(release).not.toBeNull();
  expect(await takeLock("a")).toBeNull();
  const other = await takeLock("b");
  expect(other).not.toBeNull();
  other?.();
  release?.();
  const again = await takeLock("a");
  expect(again).not.toBeNull();
  again?.();
});
