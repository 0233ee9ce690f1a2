/** Text from the server, made fit for a terminal: labels, names and reasons are typed in by strangers. */
import { stripVTControlCharacters } from "node:util";

/** C0, DEL, C1; line and paragraph separators; and what turns the direction of writing. */
const OBEYED = /[\p{Cc}\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;
const SHOWN = "\uFFFD";

/** One line that no terminal obeys: escape sequences go, and what is left of control characters is U+FFFD. */
export function clean(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/[\t\r\n]+/g, " ")
    .replaceAll(OBEYED, SHOWN)
    .toWellFormed();
}

/** The same value with what a terminal obeys as JSON escapes; only inside of strings can there be any. */
export function cleanJson(json: string): string {
  return json.replaceAll(OBEYED, (character) =>
    character === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
