/** Fields that only go together, brought together: what the document says of them in words. */
import type { MethodName } from "@berth/contract";

import { live } from "./marks.ts";

type Input = Record<string, unknown>;

export function coherent(method: MethodName, input: Input): Input {
  const mend = MENDS[method];
  const mended = mend ? mend(structuredClone(input)) : input;
  return {
    ...mended,
    ...(OWNERS.has(method) ? { tenantId: "t-own" } : {}),
    ...cursorOf(method, mended),
  };
}

/** What only the owner of the fleet's pools may do, or does something with. */
const OWNERS: ReadonlySet<MethodName> = new Set([
  "pools.create",
  "pools.offer",
  "pools.unoffer",
  "pools.update",
  "pools.archive",
  "fleet.getNode",
]);

/** A cursor goes on in the list that gave it. */
function cursorOf(method: MethodName, input: Input): Input {
  const field = ["cursor", "after"].find((name) => name in input);
  return field === undefined ? {} : { [field]: live(`cursor_${method.replace(".", "_")}`, 0) };
}

const MENDS: Partial<Record<MethodName, (input: Input) => Input>> = {
  "capacity.preview": booking,
  "reservations.create": booking,
  "reservations.quote": (input) => ({
    ...booking(input),
    ...(input["alternatives"] ? { alternatives: [{ spot: true }, { duration: "2h" }] } : {}),
  }),
  "pools.create": pool,
  "pools.update": (input) => ({ gpuModel: "H100", ...without(input, "policy") }),
  "fleet.putNodes": (input) => ({
    ...input,
    nodes: (input["nodes"] as Input[]).map((node, at) => ({
      ...without(node, "tenantOwned", "state"),
      gpus: (node["gpus"] as Input[] | undefined)?.map((gpu, index) => ({
        ...without(gpu, "migProfiles"),
        uuid: `GPU-${at}-${index}`,
        index,
      })),
    })),
  }),
  "fleet.putSite": (input) => without(input, "kind"),
  "fleet.putTenant": (input) => without(input, "parentId"),
  "fleet.listNodes": inOrder,
  "capacity.timeline": (input) => without(inOrder(input), "stepMinutes"),
  "reservations.list": inOrder,
  "unitReservations.create": (input) => {
    const nth = Number(/\d+/.exec(String(input["nodeId"]))?.[0] ?? 0);
    return {
      ...input,
      nodeId: live("pairnode", nth),
      unitIds: [live("pairunit", nth)],
      allowedOrgIds: ["t-a", "t-b"],
      ...("managingOrgIds" in input ? { managingOrgIds: ["t-c"] } : {}),
    };
  },
  "access.createKey": (input) => without(input, "scope"),
};

function without(input: Input, ...names: string[]): Input {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)));
}

/** `to` comes after `from`; both are near, or neither is given. */
function inOrder(input: Input): Input {
  const { from = 0, to = Infinity } = input as { from?: number; to?: number };
  return Number(to) > Number(from) && Number(to) < 2 ** 46 ? input : without(input, "from", "to");
}

function booking(input: Input): Input {
  const lines = (input["devices"] as Input[]).map((line) => withoutTroubles(line));
  if (input["binding"] === "node")
    return {
      ...without(input, "topology", "spot"),
      devices: [{ class: "node", count: 1 }],
      node: input["node"] ?? { profileId: "p" },
    };
  const [first = {}] = lines;
  // Two lines that ask for the same units by name, or a gang that does, never go together.
  return {
    ...without(input, "node", "binding"),
    devices: input["gang"] ? [nameless(first)] : lines,
  };
}

const nameless = (line: Input): Input => ({ ...line, selector: {} });

function withoutTroubles(line: Input): Input {
  const { class: asked, count, topology } = line;
  const selector = line["selector"] as Input | undefined;
  const ids = selector?.["unitIds"] as readonly string[] | undefined;
  const kept = ids ? { unitIds: [...new Set(ids)] } : {};
  return {
    class: asked === "node" || ids ? "gpu" : asked,
    count: kept.unitIds?.length ?? count,
    ...(selector ? { selector: { ...without(selector, "profile", "unitIds"), ...kept } } : {}),
    ...(topology === undefined ? {} : { topology }),
  };
}

function pool(input: Input): Input {
  const { policy } = input as { policy?: Input };
  return {
    ...without(input, "providerAccountId", "agent", "policy"),
    class: input["class"] === "provider" ? "metal-host" : input["class"],
    sharing: "exclusive",
    ...(policy
      ? { policy: without(policy, "migLayout", "sharing", "kubernetes", "maxDuration", "horizon") }
      : {}),
  };
}
