// The pseudo-language is made from the English catalogues, and is part of the mock alone.
import { expect, it } from "vitest";
import type { UserConfig } from "vite";
import en from "$messages/en";
import windowEnglish from "$messages/window/en";
import config from "../../vite.config";
import { pseudo, pseudoCatalogue } from "./pseudo";

it.each([
  ["Settings", "⟦Šéţţîñĝš ···⟧"],
  ["{{count, number}} texts of $t(counts.people)", "⟦{{count, number}} ţéẋţš öƒ $t(counts.people) ···⟧"],
  [", ", ", "],
  ["{{low, number}}–{{high, number}} %", "{{low, number}}–{{high, number}} %"],
])("writes %j as %j", (english, wanted) => expect(pseudo(english)).toBe(wanted));

const catalogue = { ...en, ...windowEnglish } as unknown as Record<string, Record<string, string>>;
const translated = pseudoCatalogue(catalogue);
const messages = Object.entries(catalogue).flatMap(([name, section]) =>
  Object.entries(section).map(([key, english]) => {
    return { key: `${name}.${key}`, english, other: translated[name]?.[key] ?? "" };
  }),
);

it("has every message under its key, 40 % longer, and with its values", () => {
  const values = (message: string) => message.match(/\{\{[^}]*\}\}|\$t\([^)]*\)/g) ?? [];
  const own = (message: string) => values(message).reduce((rest, value) => rest.replace(value, ""), message);
  const wrong = messages.filter(
    ({ english, other }) =>
      JSON.stringify(values(other)) !== JSON.stringify(values(english)) ||
      /[A-Za-z]/.test(own(other)) ||
      (/\p{L}/u.test(own(english)) && own(other).length < 1.4 * own(english).length),
  );
  expect(messages.length).toBeGreaterThan(2000);
  expect(wrong).toEqual([]);
});

it.each(["production", "page", "development"])("is in no build for %s", (mode) => {
  const made = (config as (of: { mode: string; command: "build" }) => UserConfig)({ mode, command: "build" });
  expect(JSON.stringify(made.resolve?.alias)).toContain("src/");
  expect(JSON.stringify(made.resolve?.alias)).not.toContain("src/mock");
});
