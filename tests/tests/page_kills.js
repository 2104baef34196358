// Answers the texts of a page by keys, as fast as the page goes on, and collects what the page confirms.
const answering = (round) => {
  const shown = (id) => document.querySelector(`[data-testid="${id}"]`);
  const packet = JSON.parse(document.getElementById("packet").textContent);
  const names = new Map(packet.texts.map(({ text, external_id }) => [String(text), external_id]));
  const here = () => shown("label-text")?.dataset.textId ?? null;
  const done = () => Number(shown("label-progress-done")?.textContent ?? NaN);
  const ended = () => shown("packet-done") !== null;

  const confirmed = [];
  const waiting = [];
  /** The text and the level of the key that was pressed last. */
  let pressed = null;
  let counted = done();
  /** How many writes the storage refused. */
  let refused = 0;

  const press = () => {
    const text = here();
    const level = String(1 + ((Number(text) * 7 + round * 5) % 3));
    pressed = [text, level];
    const key = { key: level, code: `Digit${level}`, bubbles: true, cancelable: true };
    for (const kind of ["keydown", "keyup"])
      (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent(kind, key));
  };

  const state = () => ({ confirmed, done: done() });

  const look = () => {
    if (done() > counted) {
      // One key is pressed for each text, so that it is known which answer is counted.
      if (done() !== counted + 1) throw new Error(`from ${counted} to ${done()}`);
      counted = done();
      confirmed.push([names.get(pressed[0]), pressed[1]]);
    }
    for (const [count, resolve] of waiting) if (confirmed.length >= count || ended()) resolve(state());
    if (here() !== null && here() !== pressed?.[0]) press();
  };

  new MutationObserver(look).observe(document.body, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
  });
  look();

  /** What is confirmed, once it is so much, or once everything is answered. */
  const until = (count) =>
    confirmed.length >= count || ended()
      ? state()
      : new Promise((resolve) => waiting.push([count, resolve]));

  /** Refuses writes of the storage from one on, or undoes them; resolves once the page shows that. */
  const full = async (after, abort) => {
    const error = new DOMException("no space", "QuotaExceededError");
    let left = after;
    let first = null;
    const aborted = new WeakSet();
    for (const name of ["add", "put"]) {
      const real = IDBObjectStore.prototype[name];
      IDBObjectStore.prototype[name] = function (...given) {
        if (left-- > 0) return real.apply(this, given);
        first ??= { confirmed: confirmed.length, isAnswer: this.name !== "local" };
        refused += 1;
        if (!abort) throw error;
        // As a browser does it: the request succeeds, and what fails is the commit.
        const [request, { transaction }] = [real.apply(this, given), this];
        for (const one of [request, transaction])
          Object.defineProperty(one, "error", { value: error, configurable: true });
        request.addEventListener("success", () => {
          if (!aborted.has(transaction)) transaction.abort();
          aborted.add(transaction);
        });
        return request;
      };
    }
    const toasts = () => [...document.querySelectorAll('[data-testid="problem-toast"]')];
    const shown = () => toasts().map((one) => one.textContent);
    const waitFor = async (isIt) => {
      while (!isIt()) await new Promise((later) => setTimeout(later, 5));
    };
    await waitFor(() => shown().length > 0);
    await waitFor(() => here() === pressed[0]);
    const words = shown();
    // Where what was refused is no answer, the answer before it was saved.
    const before = first.isAnswer ? first.confirmed : confirmed.length;
    for (let time = 0; time < 3; time += 1) {
      const known = refused;
      press();
      await waitFor(() => refused > known);
      await new Promise((later) => setTimeout(later, 10));
    }
    return {
      ...state(),
      shown: words,
      after: confirmed.length - before,
      isAnswer: first.isAnswer,
    };
  };

  return { until, full };
};
