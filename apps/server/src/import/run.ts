/** Brings an inventory into a site through the API: site first, then its nodes, some hundred a call. */
import { type Berth, isBerthError } from "@berth/client";
import { LIMITS } from "@berth/contract";
import {
  type ImportDocument,
  type NodeInput,
  type RecordRef,
  type SiteInput,
  issueOfNodes,
} from "./document.ts";
import { type Difference, type KnownNode, type Outcome, difference } from "./difference.ts";

export interface ImportOptions {
  readonly site: SiteInput;
  /** Joins nodes that are in no pool to this one. */
  readonly poolId?: string | undefined;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface ImportReport {
  readonly siteId: string | null;
  readonly nodes: readonly Difference[];
  readonly counts: Readonly<Record<Outcome, number>>;
}

/** What the server reads of one call is 8 MiB; the rest is room for what stands around the nodes. */
const BYTES_MAX = 7 * 1_048_576;

/**
 * The file was checked whole when it was read; what can still be refused stands in the way on the server,
 * such as a GPU that is on another node of the site already.
 * @throws ImportError when a record is refused, BerthError for anything else; nodes of the calls before are
 * in, and a re-run finds them so
 */
export async function importNodes(
  berth: Berth,
  document: ImportDocument,
  options: ImportOptions,
): Promise<ImportReport> {
  const site = await berth.fleet.putSite(options.site);
  const refs = document.refs ?? document.nodes.map((_, at) => ({ number: at + 1 }));
  const nodes: Difference[] = [];
  for (const chunk of chunks(document.nodes)) {
    const { poolId } = options;
    const put = await berth.fleet
      .putNodes({ siteId: site.id, nodes: chunk, ...(poolId === undefined ? {} : { poolId }) })
      .catch((error: unknown) => {
        throw inFile(error, chunk, { refs, before: nodes.length });
      });
    for (const { name, outcome } of put.nodes)
      nodes.push({ name, outcome: outcome as Outcome, fields: [] });
    options.onProgress?.(nodes.length, document.nodes.length);
  }
  return { siteId: site.id, nodes, counts: countOutcomes(nodes) };
}

/** The server counts from the call's first node, a person from the file's. */
function inFile(
  error: unknown,
  chunk: readonly NodeInput[],
  { refs, before }: { refs: readonly RecordRef[]; before: number },
): unknown {
  const issue = isBerthError(error) ? error.issues?.[0] : undefined;
  const bad = issue ? issueOfNodes(issue, chunk, refs.slice(before)) : null;
  if (bad && before > 0) bad.message += ` (the ${before} nodes before this call are in)`;
  return bad ?? error;
}

/**
 * What `importNodes` would do; nothing is written.
 * @throws BerthError NOT_FOUND when there is no such pool
 */
export async function previewImport(
  berth: Berth,
  document: ImportDocument,
  options: ImportOptions,
): Promise<ImportReport> {
  const { poolId } = options;
  const { tenantId, name } = options.site;
  if (poolId !== undefined) await berth.pools.get({ tenantId, poolId });
  const { sites } = await berth.fleet.listSites({ tenantId });
  const site = sites.find((each) => each.name === name);
  const known = site ? await nodesOf(berth, tenantId, site.id) : new Map<string, KnownNode>();
  const nodes = document.nodes.map((node) => difference(node, known.get(node.name), poolId));
  return { siteId: site?.id ?? null, nodes, counts: countOutcomes(nodes) };
}

async function nodesOf(berth: Berth, tenantId: string, siteId: string) {
  const known = new Map<string, KnownNode>();
  // Spans are of no use here: an instant long past has none.
  const query = { tenantId, siteId, from: 0, to: 1, limit: 200 };
  for await (const node of berth.fleet.listNodes(query)) known.set(node.name, node);
  return known;
}

function countOutcomes(nodes: readonly Difference[]): Record<Outcome, number> {
  const counts = { created: 0, changed: 0, unchanged: 0 };
  for (const node of nodes) counts[node.outcome] += 1;
  return counts;
}

/** As many nodes a call as its limits allow, in the file's order. */
function* chunks(nodes: readonly NodeInput[]): Generator<NodeInput[]> {
  let chunk: NodeInput[] = [];
  let devices = 0;
  let bytes = 0;
  for (const node of nodes) {
    const more = { devices: devicesOf(node), bytes: Buffer.byteLength(JSON.stringify(node)) + 1 };
    const full =
      chunk.length === LIMITS.nodesPerCall ||
      devices + more.devices > LIMITS.devicesPerCall ||
      bytes + more.bytes > BYTES_MAX;
    if (full && chunk.length > 0) {
      yield chunk;
      [chunk, devices, bytes] = [[], 0, 0];
    }
    chunk.push(node);
    devices += more.devices;
    bytes += more.bytes;
  }
  if (chunk.length > 0) yield chunk;
}

function devicesOf(node: NodeInput): number {
  const vfs = (node.nics ?? []).reduce((sum, nic) => sum + nic.vfs, 0);
  return (node.gpus?.length ?? 0) + (node.disks?.length ?? 0) + vfs;
}
