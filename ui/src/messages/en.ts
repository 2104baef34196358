// The English messages: what other languages translate, and the types of their values.
import answer from "./en/answer";
import care from "./en/care";
import common from "./en/common";
import desk from "./en/desk";
import format from "./en/format";
import hand_in from "./en/hand_in";
import label from "./en/label";
import list from "./en/list";
import page from "./en/page";
import practice from "./en/practice";
import shell from "./en/shell";

export default { answer, care, common, desk, format, hand_in, label, list, page, practice, shell } as const;
