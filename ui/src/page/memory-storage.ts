// A journal's place for tests: it lasts as long as this object.
import type { Change, Copy, Local, Saved, Storage } from "./journal";

export function memoryStorage(): Storage {
  const saved: Saved = { copies: [], records: [], submitted: [], local: {} };
  return {
    load: async () => structuredClone(saved),
    append: async (copy: Copy, records) => {
      if (!saved.copies.some(({ id }) => id === copy.id)) saved.copies.push(copy);
      saved.records.push(...structuredClone(records));
    },
    submit: async (submitted) => void saved.submitted.push(submitted),
    change: async <Key extends keyof Local>(key: Key, change: Change<Local[Key]>) => {
      const now = change(structuredClone(saved.local[key]) as Local[Key] | undefined);
      Object.assign(saved.local, { [key]: structuredClone(now) });
      return now;
    },
  };
}
