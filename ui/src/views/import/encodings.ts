/** Encodings that tables of text are written in, by the names that browsers know, most common first. */
const COMMON: [string, string][] = [
  ["UTF-8", "UTF-8"],
  ["windows-1252", "Western European (windows-1252)"],
  ["windows-1250", "Central European (windows-1250)"],
  ["windows-1251", "Cyrillic (windows-1251)"],
  ["KOI8-R", "Cyrillic (KOI8-R)"],
  ["windows-1253", "Greek (windows-1253)"],
  ["windows-1254", "Turkish (windows-1254)"],
  ["windows-1255", "Hebrew (windows-1255)"],
  ["windows-1256", "Arabic (windows-1256)"],
  ["windows-1257", "Baltic (windows-1257)"],
  ["windows-1258", "Vietnamese (windows-1258)"],
  ["macintosh", "Western European (old Macintosh)"],
  ["gb18030", "Chinese, simplified (GB 18030)"],
  ["Big5", "Chinese, traditional (Big5)"],
  ["Shift_JIS", "Japanese (Shift_JIS)"],
  ["EUC-JP", "Japanese (EUC-JP)"],
  ["EUC-KR", "Korean (EUC-KR)"],
  ["UTF-16LE", "UTF-16, little endian"],
  ["UTF-16BE", "UTF-16, big endian"],
];

/** What can be chosen where a file was read in `current`. */
export function encodings(current: string): { value: string; label: string }[] {
  const common = COMMON.map(([value, label]) => ({ value, label }));
  return common.some(({ value }) => value === current)
    ? common
    : [{ value: current, label: current }, ...common];
}
