import { t } from "$messages/messages.svelte";

/** Encodings that tables of text are written in, by the names that browsers know, most common first. */
const common = (): [string, string][] => [
  ["UTF-8", "UTF-8"],
  ["windows-1252", t("importing.western_european", { encoding: "windows-1252" })],
  ["windows-1250", t("importing.central_european", { encoding: "windows-1250" })],
  ["windows-1251", t("importing.cyrillic", { encoding: "windows-1251" })],
  ["KOI8-R", t("importing.cyrillic", { encoding: "KOI8-R" })],
  ["windows-1253", t("importing.greek", { encoding: "windows-1253" })],
  ["windows-1254", t("importing.turkish", { encoding: "windows-1254" })],
  ["windows-1255", t("importing.hebrew", { encoding: "windows-1255" })],
  ["windows-1256", t("importing.arabic", { encoding: "windows-1256" })],
  ["windows-1257", t("importing.baltic", { encoding: "windows-1257" })],
  ["windows-1258", t("importing.vietnamese", { encoding: "windows-1258" })],
  ["macintosh", t("importing.western_european_mac")],
  ["gb18030", t("importing.chinese_simplified", { encoding: "GB 18030" })],
  ["Big5", t("importing.chinese_traditional", { encoding: "Big5" })],
  ["Shift_JIS", t("importing.japanese", { encoding: "Shift_JIS" })],
  ["EUC-JP", t("importing.japanese", { encoding: "EUC-JP" })],
  ["EUC-KR", t("importing.korean", { encoding: "EUC-KR" })],
  ["UTF-16LE", t("importing.little_endian", { encoding: "UTF-16" })],
  ["UTF-16BE", t("importing.big_endian", { encoding: "UTF-16" })],
];

/** What can be chosen where a file was read in `current`. */
export function encodings(current: string): { value: string; label: string }[] {
  const items = common().map(([value, label]) => ({ value, label }));
  return items.some(({ value }) => value === current)
    ? items
    : [{ value: current, label: current }, ...items];
}
