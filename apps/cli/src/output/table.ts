/** Tables for people: no borders, columns as wide as their cells, as wide as the terminal at most. */
import { clean } from "./clean.ts";

export interface Column<T> {
  /** What `--columns` calls it; its title in capitals. */
  readonly name: string;
  readonly of: (row: T) => string | number | boolean | null | undefined;
  readonly align?: "right";
  /** Only with `--wide`, or when it is asked for by name. */
  readonly isWide?: boolean;
}

export interface Fit {
  /** Characters a line; null: cells are never cut. */
  readonly width: number | null;
  /** Makes titles stand out. */
  readonly title: (text: string) => string;
}

const GAP = "  ";
const CELL_MIN = 6;
const NOTHING = "-";

/** Lines, titles first. */
export function table<T>(rows: readonly T[], columns: readonly Column<T>[], fit: Fit): string[] {
  const cells = rows.map((row) => columns.map(({ of }) => cellOf(of(row))));
  const titles = columns.map(({ name }) => name.toUpperCase());
  const widths = widthsOf([titles, ...cells], fit.width);
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, at) => {
        const width = widths[at] ?? 0;
        return padded(cut(text, width), width, columns[at]?.align);
      })
      .join(GAP)
      .trimEnd();
  return [fit.title(line(titles)), ...cells.map(line)];
}

function cellOf(value: ReturnType<Column<never>["of"]>): string {
  if (value === null || value === undefined || value === "") return NOTHING;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return clean(String(value));
}

/** Ids stand last and are cut first: whoever needs one whole does not read it off a narrow terminal. */
function widthsOf(lines: readonly (readonly string[])[], most: number | null): number[] {
  const count = lines[0]?.length ?? 0;
  const widths = Array.from({ length: count }, (_, at) =>
    Math.max(...lines.map((line) => widthOf(line[at] ?? ""))),
  );
  if (most === null) return widths;
  let over = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - most;
  for (let at = count - 1; at >= 0 && over > 0; at -= 1) {
    const width = widths[at] ?? 0;
    const less = Math.min(
      over,
      Math.max(0, width - Math.max(CELL_MIN, widthOf(lines[0]?.[at] ?? ""))),
    );
    widths[at] = width - less;
    over -= less;
  }
  return widths;
}

function padded(text: string, width: number, align: "right" | undefined): string {
  const space = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "right" ? space + text : text + space;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const ASCII = /^[\x20-\x7e]*$/;
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u;

/** Columns that the text takes on a terminal. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [kept, taken] = ["", 0];
  for (const { segment } of graphemes.segment(text)) {
    taken += widthOf(segment);
    if (taken > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
