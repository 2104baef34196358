// Words and phrases by which a person leaves texts out. The same rules: crates/labelling/src/topics.rs.
import { t } from "$messages/messages.svelte";
import { refuse } from "./problems";

const MAX_WORDS = 200;
const LONGEST = 100;

/** Scripts without spaces between words: each letter is a word of its own. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** The words of a text in lower case. */
function segments(text: string): string[] {
  // Browsers of before 2024 may lack it: then words are what is between other characters.
  if (!("Segmenter" in Intl)) return text.toLowerCase().match(/[\p{L}\p{N}\p{M}_'’]+/gu) ?? [];
  const words = new Intl.Segmenter("en", { granularity: "word" });
  const letters = new Intl.Segmenter("en", { granularity: "grapheme" });
  return [...words.segment(text)].flatMap(({ segment, isWordLike }) => {
    if (!isWordLike) return [];
    const lower = segment.toLowerCase();
    return UNSPACED.test(lower) ? [...letters.segment(lower)].map((letter) => letter.segment) : [lower];
  });
}

/** Whether a text contains one of these words. A star at the end stands for any ending. */
export function areIn(topics: readonly string[], body: string): boolean {
  const wanted = topics
    .map((topic) => ({ words: segments(topic), begins: topic.trimEnd().endsWith("*") }))
    .filter((topic) => topic.words.length > 0);
  if (wanted.length === 0) return false;
  const there = segments(body);
  const isAt = (topic: (typeof wanted)[number], from: number) =>
    topic.words.every((word, i) => {
      const found = there[from + i] ?? "";
      return found === word || (topic.begins && i === topic.words.length - 1 && found.startsWith(word));
    });
  return wanted.some((topic) =>
    there.some((_, from) => from + topic.words.length <= there.length && isAt(topic, from)),
  );
}

/** Trims the words and drops repeated ones; refuses what cannot be looked for. */
export function checkTopics(topics: readonly string[]): string[] {
  const kept: string[] = [];
  for (const topic of topics.map((one) => one.trim()).filter((one) => one !== "")) {
    if ([...topic].length > LONGEST)
      refuse("setting", t("page.problem_topic_too_long", { topic, count: LONGEST }));
    if (segments(topic).length === 0) refuse("setting", t("page.problem_topic_without_letters", { topic }));
    if (!kept.some((known) => known.toLowerCase() === topic.toLowerCase())) kept.push(topic);
  }
  if (kept.length > MAX_WORDS)
    refuse("setting", t("page.problem_topics_over_limit", { count: kept.length, most: MAX_WORDS }));
  return kept;
}
