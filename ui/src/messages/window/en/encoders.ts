// The encoder of a project: its download, and a comparison of several.
export default {
  encoder: "Encoder",
  what_it_is_for:
    "An encoder turns each text into a vector, so that models can use its content. It runs on this computer; no text leaves it.",
  choose_folder_title: "Choose the folder of an encoder",

  // The one that is offered
  name: "Name",
  about: "What it is",
  size: "Download",
  size_checked: "{{size}}, each file checked by its SHA-256",
  file_checked: "{{bytes, number}} bytes, SHA-256 {{sha256}}",
  licence: "Licence",
  /** Where it is downloaded from. */
  from: "From",
  /** The folder it is saved to. */
  to: "To",
  is_here: "It is on this computer.",
  download_progress: "Download",
  /** Megabytes: "12 MB of 91 MB". */
  done_of: "{{done}} of {{total}}",
  choose_folder: "Choose a folder…",
  cancel_download: "Cancel download",
  download: "Download ({{size}})",
  downloaded: "The encoder is downloaded",

  // The comparison
  compare_title: "Compare encoders",
  compare_what:
    "How well the labels of a question are predicted from each encoder's embeddings. The project stores the embeddings of all of them and changes its encoder only when you choose one.",
  question: "Question",
  on_this_computer: "On this computer",
  in_use: "in use",
  add_folder: "Add a folder…",
  add_project: "Add another project's…",
  add_project_what: "An encoder that another project has tuned on its own labels; this can help here",
  choose_project_title: "Choose a project that has tuned an encoder",
  needs_more: "A comparison needs two encoders",
  needs_more_how:
    "Add the folder of another encoder, or the encoder that another project has tuned, with the buttons above. The command fetches one from the model hub: {{command}}.",
  stopped: "Stopped. Finished embeddings are stored, and the next comparison continues from there.",
  working: "Encoding and predicting…",
  comparing: "Comparing encoders",
  stop: "Stop",
  log_loss: "Log loss",
  log_loss_what: "Log loss on labels of held-out texts: lower is better",
  difference: "Difference",
  difference_what: "Against {{encoder}}, on the same labels",
  use_this: "Use this one",
  /** {{labels}} is a number of labels: "1,456 labels". */
  method:
    "{{labels}}, predicted in five-fold cross-validation over texts; ± is a standard error over labels. A difference within one standard error is no reason to change.",
  compare: "Compare",
  compare_again: "Compare again",
} as const;
