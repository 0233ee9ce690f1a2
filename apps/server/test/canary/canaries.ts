/**
 * What a principal may hold of what it was given. Every text of a tenant's own that tests make carries the tenant's
 * mark; who is answered another tenant's mark, or the id of another tenant's reservation, was told too much.
 */

/** Text for a tenant's names and other free text, told apart from every other tenant's; an id may hold it itself. */
export const canary = (tenantId: string): string =>
  /CANARY-.+-END/.exec(tenantId)?.[0] ?? `CANARY-${tenantId}-END`;

const MARKS = /CANARY-([A-Za-z0-9._:-]{1,128}?)-END/g;
const RESERVATIONS = /rsv_[0-9a-hjkmnp-tv-z]{26,52}/g;
const CURSORS = /"(?:cursor|nextCursor)":"([\w-]{8,})"/g;
/** As views write them; what else an object holds comes after. */
const OWNED = /"id":"(rsv_\w+)","tenantId":"([^"]+)"/g;
const PLACES = /"tenantId":"([^"]+)","parentId":(null|"[^"]+")/g;
const KEYS =
  /"key":\{"id":"key_\w+","tenantId":"([^"]+)".{0,1024}?"role":"([^"]+)".{0,8192}?"secret":"([^"]+)"/g;

/** Who is told of reservations that are not its own: they end, move or stay because of what it asks. */
const TOLD_OF_OTHERS =
  /[./](?:reclaim|terminate|scheduleMaintenance|cancelMaintenance|setNodeState|setUnitHealth)\b/;

export interface Holder {
  readonly tenantId: string;
  readonly role: string;
}

/** Text on its way to somebody. */
export interface Told {
  /** Null = to nobody in particular: no mark at all may be in it. */
  readonly to: Holder | null;
  readonly text: string;
  /** What it was, for the one who reads of the leak. */
  readonly where: string;
  /** What was asked: who repeats what it was told tells nothing. */
  readonly asked?: () => string;
}

export interface Canaries {
  /** Says whose token it is, where that was not learned from the answer that showed it. */
  knows(token: string, holder: Holder): void;
  /** Lets a tenant be told of another: the owner of a node whose units are set aside, for example. */
  allow(tenantId: string, of: string): void;
  holderOf(token: string): Holder | undefined;
  /** Takes up whose keys, reservations and tenants the text tells of. */
  learn(text: string): void;
  inspect(told: Told): void;
  /** A log line belongs to the tenant that it names, one that names none to nobody. */
  inspectLine(line: string): void;
  readonly leaks: readonly string[];
  /** Takes the leaks that were found so far: a test that plants one. */
  take(): string[];
  /** @throws Error naming every leak */
  expectNone(): void;
}

export function createCanaries(): Canaries {
  const holders = new Map<string, Holder>();
  const parents = new Map<string, string>();
  const owners = new Map<string, string>();
  const allowed = new Set<string>();
  const leaks: string[] = [];

  const reaches = (holder: Holder, of: string): boolean => {
    if (holder.role === "fleet-admin" || allowed.has(JSON.stringify([holder.tenantId, of])))
      return true;
    const seen = new Set<string>();
    for (let at: string | undefined = of; at !== undefined && !seen.has(at); at = parents.get(at)) {
      if (at === holder.tenantId) return true;
      seen.add(at);
    }
    return false;
  };
  /** A tenant whose own id holds the mark is one of its bearers. */
  const mayHold = (to: Holder | null, mark: string): boolean =>
    to !== null && (to.tenantId.includes(`CANARY-${mark}-END`) || reaches(to, mark));

  const inspect = ({ to, text, where, asked }: Told): void => {
    const repeats = (found: string): boolean => asked?.().includes(found) ?? false;
    const whose = to === null ? "nobody" : `${to.role} of ${to.tenantId}`;
    const leak = (found: string, at: number): void => {
      const around = text.slice(Math.max(0, at - 80), at + found.length + 40);
      leaks.push(`${where}: ${whose} was told ${found}: …${around}…`);
    };
    if (text.includes("CANARY-"))
      for (const match of text.matchAll(MARKS))
        if (!mayHold(to, match[1] ?? "") && !repeats(match[0])) leak(match[0], match.index);
    for (const [, cursor = ""] of text.matchAll(CURSORS)) {
      const inner = Buffer.from(cursor, "base64url").toString("latin1");
      if (inner.includes("CANARY-")) inspect({ to, text: inner, where: `${where}, in a cursor` });
    }
    if (TOLD_OF_OTHERS.test(where)) return;
    if (text.includes("rsv_"))
      for (const match of text.matchAll(RESERVATIONS)) {
        const owner = owners.get(match[0]);
        if (owner === undefined || (to !== null && reaches(to, owner))) continue;
        if (!repeats(match[0])) leak(match[0], match.index);
      }
  };

  return {
    leaks,
    inspect,
    knows: (token, holder) => void holders.set(token, holder),
    allow: (tenantId, of) => void allowed.add(JSON.stringify([tenantId, of])),
    holderOf: (token) => holders.get(token),
    learn(text) {
      if (text.includes('"secret":"'))
        for (const [, tenantId = "", role = "", secret = ""] of text.matchAll(KEYS))
          holders.set(secret, { tenantId, role });
      if (text.includes('"parentId":'))
        for (const [, tenantId = "", parent = "null"] of text.matchAll(PLACES))
          if (parent === "null") parents.delete(tenantId);
          else parents.set(tenantId, parent.slice(1, -1));
      if (text.includes('"id":"rsv_'))
        for (const [, id = "", tenantId = ""] of text.matchAll(OWNED)) owners.set(id, tenantId);
    },
    inspectLine(line) {
      if (!line.includes("CANARY-")) return;
      const { tenantId } = parse(line);
      const to = typeof tenantId === "string" ? { tenantId, role: "log" } : null;
      inspect({ to, text: line, where: "a log line" });
    },
    take: () => leaks.splice(0),
    expectNone() {
      if (leaks.length > 0)
        throw new Error(`tenants were told of others, ${leaks.length} times:\n${leaks.join("\n")}`);
    },
  };
}

function parse(line: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(line)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
