/** `berth preview`: whether it fits, and where. */
import type { Candidate, Preview } from "@berth/client";
import { EXIT, type Status } from "../exit.ts";
import { type OutputOptions, type Tables, print } from "../output/print.ts";
import type { Column } from "../output/table.ts";
import { blockedTable, hasRoom, preemption } from "../plan.ts";
import { type ShapeOptions, choosePool, wishOf } from "../request.ts";
import { facts } from "../reservation-view.ts";
import { type TenantOption, openSession } from "../session.ts";
import type { Call } from "../spec.ts";
import { both, length } from "../time.ts";

export type PreviewOptions = ShapeOptions & OutputOptions & TenantOption;

const COLUMNS: readonly Column<Candidate>[] = [
  { name: "node", of: ({ nodeName }) => nodeName },
  { name: "units", align: "right", of: ({ atoms }) => atoms.length },
  { name: "score", align: "right", of: ({ score }) => score.toFixed(2) },
  { name: "node-id", of: ({ nodeId }) => nodeId },
];

export async function preview(call: Call, options: PreviewOptions): Promise<Status> {
  const { io, args, onServer } = call;
  const wish = await wishOf({ io, count: args[0] ?? "" }, options);
  const session = await openSession(io, options);
  onServer(session.url);
  const pool = await choosePool({ ...call, session }, wish, options.pool);
  const tenantId = await session.tenantId();
  const data = await session.berth.capacity.preview({
    ...wish.ask,
    tenantId,
    poolId: pool.poolId,
  });
  await print(io, options, {
    data,
    lines: (tables) => linesOf(data, `${wish.words}, in ${pool.name}`, tables),
  });
  return hasRoom(data) ? EXIT.ok : EXIT.noRoom;
}

function linesOf(data: Preview, asked: string, tables: Tables): string[] {
  const { fits, start, end, reason, earliestStart, searchedTo, candidates } = data;
  const never = `never up to ${both(searchedTo)}`;
  return [
    ...facts([
      ["asked", asked],
      ["fits", fits ? "yes" : `no: ${reason?.message ?? ""}`],
      ["start", both(start)],
      ["end", `${both(end)}, ${length(end - start)} later`],
      ["makes way", preemption(data)],
      ["earliest", fits ? null : earliestStart === null ? never : both(earliestStart)],
    ]),
    ...blockedTable(reason, tables),
    ...(candidates.length > 0 ? ["", ...tables.main(candidates, COLUMNS)] : []),
  ];
}
