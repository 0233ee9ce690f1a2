/** One reservation for people: facts, then what it holds. */
import type { Member, Reservation } from "@berth/client";
import { clean } from "./output/clean.ts";
import type { Answer, Tables } from "./output/print.ts";
import { type Column, widthOf } from "./output/table.ts";
import { both, length } from "./time.ts";
import { whatOf } from "./words.ts";

/** Name and value, one a line, with the values below each other. */
export function facts(pairs: readonly (readonly [string, string | null])[]): string[] {
  const said = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== null);
  const width = Math.max(...said.map(([name]) => widthOf(name)));
  return said.map(([name, value]) => `${name.padEnd(width)}  ${clean(value)}`);
}

/** @param now milliseconds since the epoch */
export function reservationAnswer(reservation: Reservation, now: number): Answer {
  return {
    data: reservation,
    lines: (tables) => [...factsOf(reservation, now), ...holdings(reservation, tables)],
  };
}

function factsOf(reservation: Reservation, now: number): string[] {
  const { state, start, end, leaseExpiresAt, preemption, degraded, endedAt, endReason } =
    reservation;
  const left = leaseExpiresAt === null ? "" : `, ${length(leaseExpiresAt - now)} from now`;
  return facts([
    ["id", reservation.id],
    ["state", state],
    ["what", `${whatOf(reservation)}${reservation.spot ? ", spot" : ""}`],
    ["start", both(start)],
    ["end", `${both(end)}, ${length(end - start)} after its start`],
    ["lease until", leaseExpiresAt === null ? null : `${both(leaseExpiresAt)}${left}`],
    [
      "made way",
      preemption === null ? null : `ends ${both(preemption.endsAt)}: others need the room`,
    ],
    ["degraded", degraded === null ? null : `${degraded.cause} since ${both(degraded.since)}`],
    [
      "ended",
      endedAt === null ? null : `${both(endedAt)}${endReason === null ? "" : `: ${endReason}`}`,
    ],
    ["tenant", reservation.tenantId],
    ["project", reservation.projectId],
    ["pool", reservation.poolId],
    ["version", String(reservation.version)],
  ]);
}

const HOLDINGS: readonly Column<Member>[] = [
  { name: "member", align: "right", of: ({ index }) => index },
  { name: "node", of: ({ nodeName }) => nodeName },
  { name: "address", of: ({ address }) => address },
  { name: "units", of: unitsOf },
  {
    name: "uuids",
    of: ({ atoms }) =>
      atoms
        .map(({ gpuUuid }) => gpuUuid)
        .filter(Boolean)
        .join(" "),
    isWide: true,
  },
  { name: "node-id", of: ({ nodeId }) => nodeId },
];

function holdings({ members }: Reservation, { main }: Tables): string[] {
  return members === null || members.length === 0 ? [] : ["", ...main(members, HOLDINGS)];
}

/** `gpu 0-3,6`, class by class. */
function unitsOf({ atoms }: Member): string {
  const byClass = new Map<string, number[]>();
  for (const { class: name, index } of atoms)
    byClass.set(name, [...(byClass.get(name) ?? []), index]);
  return [...byClass].map(([name, indices]) => `${name} ${spans(indices)}`).join(", ");
}

function spans(indices: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const index of [...indices].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && last[1] === index - 1) last[1] = index;
    else runs.push([index, index]);
  }
  return runs.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(",");
}
