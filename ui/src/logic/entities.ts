// Decodes HTML entities.

const ENTITY = /&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});/g;
const known = new Map<string, string>();

/** `&amp;` as `&`, `&#233;` as `é`; what names no character stays. */
export function plainEntities(text: string): string {
  return text.includes("&") ? text.replace(ENTITY, character) : text;
}

function character(entity: string): string {
  const before = known.get(entity);
  if (before !== undefined) return before;
  const found = entity[1] === "#" ? numbered(entity.slice(2, -1)) : named(entity);
  if (known.size < 4000) known.set(entity, found);
  return found;
}

function numbered(digits: string): string {
  const code = /^[xX]/.test(digits) ? parseInt(digits.slice(1), 16) : parseInt(digits, 10);
  const none = code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
  return none ? "\ufffd" : String.fromCodePoint(code);
}

/** Uses the browser's own names. Only a name between `&` and `;` is parsed, in a detached document. */
function named(entity: string): string {
  const page = new DOMParser().parseFromString(`x${entity}`, "text/html");
  const found = page.body.textContent.slice(1);
  // Some names are read without their semicolon too: `&nothing;` is not `¬hing;`.
  return found.endsWith(";") && entity !== "&semi;" ? entity : found;
}
