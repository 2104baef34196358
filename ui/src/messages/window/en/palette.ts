// The palette: search and commands.
export default {
  placeholder_study: "Find an action, a person, a text…",
  placeholder_packet: "Find an action, a text…",
  placeholder: "Find an action…",
  field: "Find by name",
  results: "Found",
  no_results: "No results.",
  failed: "Texts could not be searched.",

  // Groups of results.
  recent: "Recently used",
  in_view: "In this view",
  actions: "Actions",
  people: "People",
  texts: "Texts",
  texts_some: "Texts · {{shown, number}} of {{total, number}}",

  label_as: "Label as {{name}}",

  // Where a result leads.
  in_label: "in Label",
  in_people: "in People",
  in_people_simulated: "simulated · in People",

  // Each follows a key of the keyboard.
  key_do: "do",
  key_close: "close",
} as const;
