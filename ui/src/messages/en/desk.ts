// What the desk says by itself, whatever is on it.
export default {
  problem_of_question: "{{question}}: {{problem}}",
} as const;
