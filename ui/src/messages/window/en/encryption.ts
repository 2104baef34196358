// Files that are encrypted with a passphrase.
export default {
  passphrase: "Passphrase",
  again: "The same again",
  differs: "The two passphrases differ.",
  too_short: "Passphrases shorter than {{count, number}} characters are easy to guess.",
  long_enough: "Long enough. Several unrelated words, or a generated passphrase, are hard to guess.",
  generate: "Generate",
  copy: "Copy",
  copied: "Passphrase copied",
  show: "Show",
  not_stored: "The passphrase is stored nowhere. Send it by another way than the file, such as by telephone.",
  forgotten:
    "Without the passphrase nobody can open the encrypted file. Nothing else is lost: the project that it was made from stays as it is.",
  cancel: "Cancel",
  choose_place: "Choose where to save…",

  copy_title: "Save an encrypted copy",
  copy_text:
    "A copy of the project in one file that opens only with a passphrase, here and in any program for the age format.",
  submission_title: "Hand in, encrypted",
  submission_text:
    "Your answers in one file that opens only with a passphrase. Use the one that the researcher gave you, or agree on one.",
  what_copy: "A copy that opens only with a passphrase.",
  what_submission: "Your answers in a file that opens only with a passphrase.",

  unlock_title_one: "This file is encrypted",
  unlock_title_other: "{{count, number}} files are encrypted",
  unlock_text: "Type the passphrase that you got from the person who encrypted it.",
  unlock: "Decrypt",
  decrypt: "Decrypt…",
  unlocking: "Decrypting…",
  written_to: "The decrypted file is written to",
  change_target: "Change…",
  stays_decrypted:
    "It stays on this computer without encryption, and only your user can read it. Delete it when you no longer need it.",

  // Packets.
  own: "A passphrase for each person",
  own_hint: "Generated. The folder gets passphrases.csv with all of them.",
  same: "One passphrase for all",
  same_hint: "Everybody who knows it can open every packet.",
  passphrases: "Passphrases",
} as const;
