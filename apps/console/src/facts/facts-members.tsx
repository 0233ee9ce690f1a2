/** Where the reservation is: each member's node and the exact units. */
import type { Atom, Member, Reservation } from "@berth/client";
import type { ReactNode } from "react";
import { countText } from "../format/gpus.ts";
import { unitsText as countedText } from "../format/units.ts";
import { CopyText } from "../ui/copy.tsx";
import styles from "./facts.module.css";

export function FactsMembers({ reservation }: { readonly reservation: Reservation }): ReactNode {
  const members = reservation.members ?? [];
  if (members.length === 0) return null;
  return (
    <section className={styles["section"]}>
      <h3>{members.length === 1 ? "On one node" : `On ${countText(members.length, "node")}`}</h3>
      <ul className={styles["members"]}>
        {members.map((member) => (
          <MemberItem key={member.index} member={member} />
        ))}
      </ul>
    </section>
  );
}

function MemberItem({ member }: { readonly member: Member }): ReactNode {
  const { address, atoms, nodeName } = member;
  return (
    <li>
      <details open={atoms.length <= 2}>
        <summary>
          <b>{nodeName}</b>
          <span>{unitsText(atoms)}</span>
        </summary>
        {address !== null && (
          <p className={styles["address"]}>
            <CopyText text={address} label={`the address of ${nodeName}`} />
          </p>
        )}
        <ul className={styles["atoms"]}>
          {atoms.map((atom) => (
            <li key={atom.unitId}>
              <span>{atomText(atom)}</span>
              <CopyText text={atom.gpuUuid ?? atom.unitId} label={`the id of ${atomText(atom)}`} />
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}

const CLASS: Readonly<Record<string, string>> = {
  gpu: "GPU",
  "gpu.slot": "slot",
  "nic.vf": "NIC function",
  disk: "disk",
};

function atomText({ class: kind, index, profile }: Atom): string {
  return `${profile ?? CLASS[kind] ?? kind} ${index}`;
}

/** `GPU 0–7`, or the count where they are of several kinds. */
function unitsText(atoms: readonly Atom[]): string {
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
