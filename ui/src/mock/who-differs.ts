// Who differs in the mock: invented shares, people by their toy severity.
import type * as view from "$api/bindings";
import { labelKey, type World } from "./world";

const figure = (value: number, half: number): view.Figure => ({
  value,
  interval: [value - half, value + half],
  p: null,
});

export function whoDiffers(
  world: World,
  question: view.QuestionId,
  attributes: readonly view.AttributeInfo[],
): view.WhoDiffers {
  const labels = (id: number) =>
    world.texts.filter((text) => world.labels.has(labelKey(question, id, text.id))).length;
  const people = world.people
    .map((person) => ({ person, labels: labels(person.id) }))
    .filter(({ labels }) => labels > 0)
    .sort((a, b) => a.person.severity - b.person.severity);
  const side = (name: string, value: string): view.PeopleChoice => ({
    attributes: [[name, value]],
    annotators: [],
  });
  const described = attributes.map(({ name, values }, at): view.AttributeDifference => {
    const [low, high] = values;
    const enough = low !== undefined && high !== undefined;
    const p = enough ? 0.03 + 0.3 * at : null;
    return {
      attribute: name,
      values: values.length,
      people: people.length,
      share: enough ? 0.06 / (at + 1) : null,
      most: enough ? 0.2 : null,
      p,
      shown: p !== null && p < 0.05,
      groups: enough ? { a: side(name, high), b: side(name, low) } : null,
      gap: enough ? figure(0.3, 0.2) : null,
      words: enough
        ? `Explains 6.0 % of the differences between people, 20 % at most (p 0.030). ${high} answers 0.30 levels higher than ${low}.`
        : "Too little to tell: fewer than two of its values have 5 people with labels.",
    };
  });
  return {
    question,
    labels: people.reduce((sum, { labels }) => sum + labels, 0),
    people: people.length,
    equal: 0.46,
    shares: { text: figure(0.32, 0.05), person: figure(0.18, 0.06), neither: figure(0.5, 0.04) },
    shares_words:
      "Why labels differ: 32 % the text, 18 % the person, 50 % neither (what one person thinks of one text, and chance).",
    attributes: described,
    attributes_words:
      described.length === 0
        ? "Nothing is known of the people but their labels: import attributes to see which groups differ."
        : `${described[0]?.attribute ?? ""} is shown to explain some of how high people answer (${described.length} attributes, corrected for their number). No attribute explains more than 20 % of the differences between people (95 %).`,
    severities: people.map(({ person, labels }) => ({
      annotator: person.id,
      name: person.name,
      simulated: true,
      labels,
      severity: person.severity,
      shown: Math.abs(person.severity) > 0.8,
    })),
    severities_words:
      "2 of 8 people answer higher than the average person beyond chance and 1 lower, after correction for their number; for the others there is too little to tell. Severities are of a model with text embeddings by all-MiniLM-L6-v2/53aa51172d14/mean/256.",
    encoder: "all-MiniLM-L6-v2/53aa51172d14/mean/256",
  };
}
