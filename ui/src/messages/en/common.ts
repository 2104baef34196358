// Words that several screens share.
export default {
  close: "Close",
  done: "Done",
  undo: "Undo",
  skip: "Skip",
  next: "Next",
  try_again: "Try again",
  hand_in: "Hand in…",
} as const;
