/** Text that people or machines gave, as it may be shown: what acts on the text around it unseen is made visible. Pure. */

/**
 * Controls, marks and overrides of direction, separators and other characters that have no look of their own. Tabs
 * and ends of lines are what they seem, and the two joiners belong to the spelling of some scripts.
 */
const UNSEEN = /(?![\t\n\r\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/**
 * Most text has none, and is looked at thousands of times: this is fast to say so. Beside ASCII the letters of Europe,
 * and the dashes, arrows and glyphs of the pages' own words.
 */
const PLAIN = /^[\t\n\r\u0020-\u007E\u00A0-\u00AC\u00AE-\u02FF\u2010-\u2027\u2190-\u25FF]*$/;

/** `node-[U+202E]evil` for a name that would turn what follows it around. */
export function displayText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replaceAll(UNSEEN, markOf);
}

function markOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
}
