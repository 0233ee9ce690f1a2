/** The units of a reservation in words. Pure. */
import type { Atom, Member, Reservation } from "@berth/client";
import { byName } from "../format/by-name.ts";
import { countText } from "../format/gpus.ts";
import { unitsText as countedText } from "../format/units.ts";

/** In the order of the nodes' names: a gang's own order says nothing to a person. */
export function membersByName({ members }: Pick<Reservation, "members">): Member[] {
  return (members ?? []).toSorted((a, b) => byName(a.nodeName, b.nodeName));
}

/** Which of its units these are, as the panel lists them: `GPU 4–7 on h100-02`. */
export function concernedText(
  reservation: Pick<Reservation, "members">,
  unitIds: readonly string[],
): string {
  const found = membersByName(reservation).flatMap(({ atoms, nodeName }) => {
    const its = atoms.filter(({ unitId }) => unitIds.includes(unitId));
    return its.length === 0 ? [] : [{ text: `${atomsText(its)} on ${nodeName}`, its }];
  });
  // One that is no longer reported may be told by its id alone.
  const rest = unitIds.length - found.reduce((sum, { its }) => sum + its.length, 0);
  const names = found.map(({ text }) => text);
  return [...names, ...(rest === 0 ? [] : [countText(rest, "other unit")])].join(", ");
}

const CLASS: Readonly<Record<string, string>> = {
  gpu: "GPU",
  "gpu.slot": "slot",
  "nic.vf": "NIC function",
  disk: "disk",
};

export function atomText({ class: kind, index, profile }: Atom): string {
  return `${profile ?? CLASS[kind] ?? kind} ${index}`;
}

/** `GPU 0–7`, or the count where they are of several kinds. */
export function atomsText(atoms: readonly Atom[]): string {
  const kinds = new Set(atoms.map((atom) => atom.class));
  const [kind = ""] = kinds;
  if (kinds.size !== 1) return countedText(atoms);
  const numbers = atoms.map(({ index }) => index).toSorted((a, b) => a - b);
  const [first = 0] = numbers;
  const last = numbers.at(-1) ?? first;
  const name = CLASS[kind] ?? "part";
  if (numbers.length === 1) return `${name} ${first}`;
  const isRun = last - first === numbers.length - 1;
  return isRun ? `${name} ${first}–${last}` : `${name} ${numbers.join(", ")}`;
}
