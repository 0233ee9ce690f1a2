/** Of a PromQL expression: the series that it asks for, and the labels that it names of them. */
export interface Asked {
  readonly series: string;
  readonly labels: readonly string[];
}

const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const WORDS = new Set(["and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring"]);
/** Of an expression, and not of a server's series. */
const GIVEN = new Set(["job", "instance", "le"]);

/** Names that are no function, no word of the language and stand outside of selectors. */
export function asked(expression: string): Asked[] {
  const found: { series: string; labels: string[] }[] = [];
  const grouped: string[] = [];
  // Texts and durations hold names that are none.
  const text = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replaceAll(/\[[^\]]*\]/g, "");
  const bare = text.replaceAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_, list: string) => {
    grouped.push(...list.split(",").map((label) => label.trim()));
    return "";
  });
  for (let at = 0; at < bare.length;) {
    NAME.lastIndex = at;
    const name = /\d/.test(bare[at - 1] ?? "") ? undefined : NAME.exec(bare)?.[0];
    if (name === undefined) {
      at += 1;
      continue;
    }
    at += name.length;
    const rest = bare.slice(at).trimStart();
    if (WORDS.has(name) || rest.startsWith("(")) continue;
    const labels = selector(rest);
    at += labels === null ? 0 : bare.slice(at).indexOf("}") + 1;
    found.push({ series: name, labels: labels ?? [] });
  }
  const own = (labels: readonly string[]) => labels.filter((label) => !GIVEN.has(label));
  return found.map(({ series, labels }) => ({ series, labels: own([...labels, ...grouped]) }));
}

function selector(rest: string): string[] | null {
  const inside = /^\{([^}]*)\}/.exec(rest)?.[1];
  if (inside === undefined) return null;
  return [...inside.matchAll(/([a-zA-Z_]\w*)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label);
}
