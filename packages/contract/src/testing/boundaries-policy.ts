/** The parts of a pool's policy, for pools.create and pools.update. */
import type { MethodName } from "../contract.ts";
import { ABSENT } from "./boundary.ts";
import type { Boundary } from "./boundary.ts";
import { bool, durations, int, object, oneOf, texts } from "./rows.ts";
import type { Place } from "./rows.ts";

const PROFILE = "^[A-Za-z0-9.+-]{1,32}$";
const TEXT = "^[^\\p{Cc}\\p{Cs}]*$";

/** A model is one that has instances, however it is written: only such a layout is taken in the end. */
function migLayout(place: Place): Boundary[] {
  const entry: Place = { ...place, field: `${place.field}.*` };
  const profile: Place = { ...place, field: `${place.field}.*[]` };
  const models = (count: number): object =>
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => {
        const form = ["PCIE", "HGX", "AC", "ACTIVE"][Math.floor(i / 10)] ?? "";
        return [`A30 SXM${i % 10} ${form}`, ["1g.6gb"]];
      }),
    );
  return [
    { ...place, constraint: "optional", accepts: [ABSENT], refuses: [] },
    {
      ...place,
      constraint: "map of list of string",
      accepts: [{ H100: ["3g.40gb"] }],
      refuses: ["x", [], null, { H100: "3g.40gb" }],
    },
    {
      ...place,
      constraint: "keys at least 1 characters",
      accepts: [{ A30: ["1g.6gb"] }],
      refuses: [{ "": ["1g.5gb"] }],
    },
    {
      ...place,
      constraint: "keys at most 256 characters",
      accepts: [{ [`A30${"-".repeat(253)}`]: ["1g.6gb"] }],
      refuses: [{ ["A".repeat(257)]: ["1g.5gb"] }],
    },
    {
      ...place,
      constraint: `keys match ${TEXT}`,
      accepts: [{ "NVIDIA H100 80GB HBM3": ["1g.10gb"] }],
      refuses: [{ "H\u0000": ["1g.10gb"] }],
    },
    {
      ...place,
      constraint: "at most 32 keys",
      accepts: [models(32)],
      refuses: [models(33)],
    },
    {
      ...entry,
      constraint: "list of string",
      accepts: [["1g.5gb"]],
      refuses: ["1g.5gb", null, [1]],
    },
    {
      ...entry,
      constraint: "1-7 items",
      accepts: [["1g.5gb"], Array(7).fill("1g.5gb")],
      refuses: [[], Array(8).fill("1g.5gb")],
    },
    { ...profile, constraint: "string", accepts: ["1g.5gb"], refuses: [1, null] },
    {
      ...profile,
      constraint: "at most 32 characters",
      accepts: ["a".repeat(32)],
      refuses: ["a".repeat(33)],
    },
    {
      ...profile,
      constraint: `matches ${PROFILE}`,
      accepts: ["1g.5gb+me"],
      refuses: ["", "1g 5gb", "1g/5gb"],
    },
  ];
}

function names(place: Place, length: number): Boundary[] {
  return [
    { ...place, constraint: "optional", accepts: [ABSENT], refuses: [] },
    { ...place, constraint: "list of string", accepts: [["a"], []], refuses: ["a", null, [1]] },
    {
      ...place,
      constraint: "at most 64 items",
      accepts: [Array(64).fill("a")],
      refuses: [Array(65).fill("a")],
    },
    ...texts({ ...place, field: `${place.field}[]` }, [1, length], undefined),
  ];
}

/** Every rule of the policy's parts, for one method. */
export function policyBoundaries(method: MethodName): Boundary[] {
  const part = (name: string): Place => ({ method, field: `policy.${name}` });
  const kubernetes = { endpoint: "https://cluster", token: "t", caHash: "h" };
  const rows = [
    ...texts(part("label"), [0, 256], false),
    ...bool(part("singleTenant"), false),
    ...bool(part("platformOperated"), false),
    ...migLayout(part("migLayout")),
    ...object(part("sharing"), { replicas: 2 }, false),
    ...int(part("sharing.replicas"), [2, 48], true),
    ...oneOf(part("placement"), ["pack", "spread"], false),
    ...object(part("spot"), { noticeSeconds: 0 }, false),
    ...int(part("spot.noticeSeconds"), [0, 3_600], true),
    { ...part("maxDuration"), constraint: "optional", accepts: [ABSENT], refuses: [] },
    ...durations(part("maxDuration")),
    { ...part("horizon"), constraint: "optional", accepts: [ABSENT], refuses: [] },
    ...durations(part("horizon")),
    ...object(part("hugepages"), {}, false),
    ...int(part("hugepages.size1Gi"), [0, 65_536], false),
    ...int(part("hugepages.size2Mi"), [0, 65_536], false),
    ...names(part("kernelModules"), 128),
    ...names(part("prewarmImages"), 512),
    ...object(part("kubernetes"), kubernetes, false),
    ...texts(part("kubernetes.endpoint"), [1, 512], true),
    ...texts(part("kubernetes.token"), [1, 4_096], true),
    ...texts(part("kubernetes.caHash"), [1, 256], true),
  ];
  // What the parts mean together is the domain's to say.
  return rows.map((row) => ({ ...row, later: true }));
}
