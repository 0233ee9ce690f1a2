/**
 * Whether a block printed what the page says. Both sides are brought to one form first: ids, keys, points in time and
 * request ids become placeholders, and columns are set apart by two spaces. In the page `…` stands for any text within
 * a line, and a line of nothing but `…` for any number of lines.
 */
import { stripVTControlCharacters } from "node:util";

const DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const CLOCK = String.raw`\d\d:\d\d(?::\d\d(?:\.\d+)?)?`;
const ZONE = String.raw`(?:[A-Z]{3,5}|GMT[+-]\d+)`;

const FORMS: readonly (readonly [RegExp, string])[] = [
  [/\bberth_[0-9A-Za-z]+_[0-9A-Za-z]+/g, "berth_…"],
  [/\b([a-z]{2,6})_(?:[0-9a-hjkmnp-tv-z]{8,}|[0-9a-hjkmnp-tv-z]*…)/g, "$1_…"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "‹uuid›"],
  [new RegExp(String.raw`\b\d{4}-\d\d-\d\d[T ]${CLOCK}(?:Z|[+-]\d\d:\d\d)`, "g"), "‹time›"],
  [
    new RegExp(
      String.raw`\b(?:${DAY} )?\d{1,2} ${MONTH}(?: \d{4})?,? ${CLOCK} ${ZONE}(?: \((?:${DAY} )?${CLOCK} UTC\))?`,
      "g",
    ),
    "‹time›",
  ],
  [/\b1[789]\d{11}\b/g, "‹time›"],
  [/ {2,}/g, "  "],
  [/ +$/gm, ""],
];

/** Without what differs from run to run. */
export function plain(text: string): string {
  const flat = stripVTControlCharacters(text).replaceAll("\r", "");
  return FORMS.reduce((left, [pattern, form]) => left.replaceAll(pattern, form), flat).trim();
}

/** What differs, for people; null: nothing does. */
export function difference(page: string, printed: string, anyOrder = false): string | null {
  const form = (text: string) =>
    anyOrder ? plain(text).split("\n").sort().join("\n") : plain(text);
  const [wanted, got] = [form(page), form(printed)];
  if (patternOf(wanted).test(got)) return null;
  const [left, right] = [wanted.split("\n"), got.split("\n")];
  const at = left.findIndex((line, index) => !patternOf(line).test(right[index] ?? ""));
  const shown = Math.max(at, 0);
  return [
    `line ${shown + 1} of what it prints`,
    `  page     ${left[shown] ?? "(nothing)"}`,
    `  printed  ${right[shown] ?? "(nothing)"}`,
    "all that it printed:",
    ...stripVTControlCharacters(printed)
      .trimEnd()
      .split("\n")
      .map((line) => `  ${line}`),
  ].join("\n");
}

function patternOf(wanted: string): RegExp {
  const lines = wanted
    .split("\n")
    .map((line) =>
      line.trim() === "…" ? "[^]*?" : RegExp.escape(line).replaceAll(RegExp.escape("…"), ".*?"),
    );
  return new RegExp(`^${lines.join("\\n")}$`);
}
