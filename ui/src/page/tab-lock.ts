// One tab at a time: two would answer the same texts, and neither would show what the other did.

/** How long another tab has to say that it is there, where the browser has no locks. */
const ANSWER_MS = 250;

/** Takes the lock of this name; null if another tab has it. What is returned gives it back. */
export function takeLock(name: string): Promise<(() => void) | null> {
  return navigator.locks ? lockOf(name) : callsOf(name);
}

function lockOf(name: string): Promise<(() => void) | null> {
  return new Promise((resolve, reject) => {
    const held = (lock: Lock | null) => {
      if (!lock) return resolve(null);
      // Held until this is resolved, or the tab is closed.
      return new Promise<void>((release) => resolve(release));
    };
    navigator.locks.request(name, { ifAvailable: true }, held).catch(reject);
  });
}

/** Without locks, as where a page comes from a server without encryption, tabs ask one another. */
async function callsOf(name: string): Promise<(() => void) | null> {
  const channel = new BroadcastChannel(name);
  const isThere = await new Promise<boolean>((resolve) => {
    channel.onmessage = ({ data }) => data === "here" && resolve(true);
    channel.postMessage("who");
    setTimeout(() => resolve(false), ANSWER_MS);
  });
  if (isThere) {
    channel.close();
    return null;
  }
  channel.onmessage = ({ data }) => data === "who" && channel.postMessage("here");
  return () => channel.close();
}
