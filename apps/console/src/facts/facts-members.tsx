/** Where the reservation is: each member's node and the exact units. */
import type { Member, Reservation } from "@berth/client";
import type { ReactNode } from "react";
import { countText } from "../format/gpus.ts";
import { CopyText } from "../ui/copy.tsx";
import { atomText, atomsText, membersByName } from "./atoms.ts";
import styles from "./facts.module.css";

export function FactsMembers({ reservation }: { readonly reservation: Reservation }): ReactNode {
  const members = membersByName(reservation);
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
          <span>{atomsText(atoms)}</span>
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
