// @vitest-environment jsdom
// Numbers as each language writes them.
import { afterEach, describe, expect, it } from "vitest";
import { locale, speak, t } from "$messages/messages.svelte";
import {
  confidence,
  count,
  dateOf,
  decimal,
  duration,
  interval,
  megabytes,
  percent,
  pValue,
  range,
  signed,
} from "./format";

afterEach(() => speak("en"));

const all = () => ({
  count: count(12345),
  decimal: [decimal(0.5), decimal(-1234.5, 1), decimal(-0.001), decimal(null)],
  signed: [signed(0.8, 1), signed(-0.8, 1), signed(0.001), signed(null)],
  percent: [percent(0.456), interval([0.4, 0.561]), interval([null, 1]), confidence()],
  range: [range(0.41, 0.523), range(-1, 2, 0), range(null, 1)],
  p: [pValue(0.0001), pValue(0.0123), pValue(0.5), pValue(null)],
  megabytes: [megabytes(1_250_000), megabytes(1_234_567_890)],
  time: [duration(0.84), dateOf(new Date(2026, 10, 24).getTime())],
});

describe("numbers", () => {
  it("are written in English", () => {
    expect(all()).toEqual({
      count: "12,345",
      decimal: ["0.50", "−1234.5", "0.00", "–"],
      signed: ["+0.8", "−0.8", "0.00", "–"],
      percent: ["46 %", "40–56 %", "–", "95 %"],
      range: ["[0.410, 0.523]", "[−1, 2]", ""],
      p: ["< 0.001", "0.012", "0.50", "–"],
      megabytes: ["1.3 MB", "1235 MB"],
      time: ["0.8 s", "Nov 24, 2026"],
    });
  });

  it("are written in German", () => {
    speak("de");
    expect(all()).toEqual({
      count: "12.345",
      decimal: ["0,50", "−1234,5", "0,00", "–"],
      signed: ["+0,8", "−0,8", "0,00", "–"],
      percent: ["46\u00a0%", "40–56\u00a0%", "–", "95\u00a0%"],
      range: ["[0,410; 0,523]", "[−1, 2]", ""],
      p: ["< 0,001", "0,012", "0,50", "–"],
      megabytes: ["1,3 MB", "1235 MB"],
      time: ["0,8\u00a0s", "24. Nov. 2026"],
    });
  });

  it("are written in Arabic, with the sign on the same side of the digits", () => {
    speak("ar");
    const mark = "\u200e";
    expect(all()).toEqual({
      count: "12,345",
      decimal: ["0.50", `${mark}−1234.5`, "0.00", "–"],
      signed: [`${mark}+0.8`, `${mark}−0.8`, "0.00", "–"],
      percent: ["46%", "40–56%", "–", "95%"],
      range: ["[0.410, 0.523]", `[${mark}−1, 2]`, ""],
      p: ["< 0.001", "0.012", "0.50", "–"],
      megabytes: ["1.3 م.ب", "1235 م.ب"],
      time: ["0.8 ث", "24 نوفمبر 2026"],
    });
  });

  it("have Latin digits in Arabic, whatever the engine prefers", () => {
    speak("ar");
    expect(new Intl.NumberFormat(locale()).resolvedOptions().numberingSystem).toBe("latn");
    expect(new Intl.NumberFormat("ar-u-nu-arab").format(7)).not.toBe("7");
    expect(t("format.seconds", { seconds: 7 })).toContain("7");
  });

  it("are rounded the same in every language", () => {
    // Nearest to 1.005 is a number below it.
    const rounded = ["en", "fr", "ja"] as const;
    expect(rounded.map((tag) => (speak(tag), decimal(1.005)))).toEqual(["1.00", "1,00", "1.00"]);
  });
});
