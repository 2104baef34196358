// The table behind a plot.
export default {
  show: "Show as table",
  shown: "The first {{shown}} of {{all}} rows are shown.",
  text: "Text",
  text_number: "Text {{number}}",
  person: "Person",
};
