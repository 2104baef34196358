// A journal's place for tests: it lasts as long as this object.
import type { Copy, Local, Saved, Storage } from "./journal";

export function memoryStorage(): Storage {
  const saved: Saved = { copies: [], records: [], submitted: [], local: {} };
  return {
    load: async () => structuredClone(saved),
    append: async (copy: Copy, records) => {
      if (!saved.copies.some(({ id }) => id === copy.id)) saved.copies.push(copy);
      saved.records.push(...structuredClone(records));
    },
    submit: async (submitted) => void saved.submitted.push(submitted),
    setLocal: async (key: keyof Local, value) => {
      saved.local[key] = structuredClone(value);
    },
  };
}
