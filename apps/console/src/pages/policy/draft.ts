/** A policy as a form holds it: texts, checked as they are typed. Pure. The server checks all of it again. */
import type { Issue, PoolPolicy, PoolPolicyView, SharingMode } from "@berth/client";
import { durationInput, parseDuration } from "../../format/duration.ts";
import { BOUNDS, wholeRefusal } from "../../format/whole.ts";

/** One text or tick a field. */
export interface Draft {
  readonly label: string;
  readonly placement: "" | "pack" | "spread";
  readonly noticeSeconds: string;
  readonly maxDuration: string;
  readonly horizon: string;
  readonly singleTenant: boolean;
  readonly platformOperated: boolean;
  /** Slots of each GPU. */
  readonly replicas: string;
  /** A line a model: `MODEL: 3g.40gb, 2g.20gb`. */
  readonly migLayout: string;
  readonly size1Gi: string;
  readonly size2Mi: string;
  /** One a line. */
  readonly kernelModules: string;
  readonly prewarmImages: string;
  readonly endpoint: string;
  readonly caHash: string;
  readonly token: string;
}

export type DraftField = keyof Draft;
export type DraftErrors = Partial<Readonly<Record<DraftField, string>>>;

/** A policy that is there, as a form. The join token is never shown, so it comes back empty. */
export function draftOf(policy: PoolPolicyView): Draft {
  const text = (value: number | undefined): string => (value === undefined ? "" : String(value));
  return {
    label: policy.label ?? "",
    placement: (["pack", "spread"] as const).find((word) => word === policy.placement) ?? "",
    noticeSeconds: text(policy.spot?.noticeSeconds),
    maxDuration: durationText(policy.maxDuration),
    horizon: durationText(policy.horizon),
    singleTenant: policy.singleTenant ?? false,
    platformOperated: policy.platformOperated ?? false,
    replicas: text(policy.sharing?.replicas),
    migLayout: Object.entries(policy.migLayout ?? {})
      .map(([model, profiles]) => `${model}: ${profiles.join(", ")}`)
      .join("\n"),
    size1Gi: text(policy.hugepages?.size1Gi),
    size2Mi: text(policy.hugepages?.size2Mi),
    kernelModules: (policy.kernelModules ?? []).join("\n"),
    prewarmImages: (policy.prewarmImages ?? []).join("\n"),
    endpoint: policy.kubernetes?.endpoint ?? "",
    caHash: policy.kubernetes?.caHash ?? "",
    token: "",
  };
}

function durationText(given: string | number | undefined): string {
  return typeof given === "number" ? durationInput(given) : (given ?? "");
}

/** What is wrong with a draft, by field; an empty record: nothing that can be told here. */
export function errorsOf(draft: Draft, sharing: SharingMode | (string & {})): DraftErrors {
  return Object.fromEntries(
    Object.entries({
      label: draft.label.length > 256 ? "At most 256 characters." : null,
      noticeSeconds: wholeRefusal(draft.noticeSeconds, BOUNDS.noticeSeconds),
      maxDuration: duration(draft.maxDuration),
      horizon: duration(draft.horizon),
      replicas: isSlots(sharing) ? wholeRefusal(draft.replicas, BOUNDS.replicas) : null,
      migLayout: sharing === "mig" ? layoutError(draft.migLayout) : null,
      size1Gi: wholeRefusal(draft.size1Gi, BOUNDS.hugepages),
      size2Mi: wholeRefusal(draft.size2Mi, BOUNDS.hugepages),
      kernelModules: list(draft.kernelModules, 128),
      prewarmImages: list(draft.prewarmImages, 512),
      ...joinErrors(draft),
    }).filter(([, error]) => error !== null),
  );
}

export function isSlots(sharing: string): boolean {
  return sharing === "timeslice" || sharing === "mps";
}

/** A draft without errors as the API takes it; what is empty is left out. */
export function policyOf(draft: Draft, sharing: SharingMode | (string & {})): PoolPolicy {
  const { label, placement, endpoint, caHash, token } = draft;
  const count = (text: string): number | undefined =>
    text.trim() === "" ? undefined : Number(text);
  const [replicas, notice] = [count(draft.replicas), count(draft.noticeSeconds)];
  const [size1Gi, size2Mi] = [count(draft.size1Gi), count(draft.size2Mi)];
  const hasHugepages = size1Gi !== undefined || size2Mi !== undefined;
  const given: PoolPolicy = {
    label: label.trim() === "" ? undefined : label.trim(),
    placement: placement === "" ? undefined : placement,
    spot: notice === undefined ? undefined : { noticeSeconds: notice },
    maxDuration: milliseconds(draft.maxDuration),
    horizon: milliseconds(draft.horizon),
    singleTenant: draft.singleTenant || undefined,
    platformOperated: draft.platformOperated || undefined,
    sharing: isSlots(sharing) && replicas !== undefined ? { replicas } : undefined,
    migLayout: sharing === "mig" ? layoutOf(draft.migLayout) : undefined,
    hugepages: hasHugepages ? defined({ size1Gi, size2Mi }) : undefined,
    kernelModules: linesOf(draft.kernelModules),
    prewarmImages: linesOf(draft.prewarmImages),
    kubernetes: endpoint.trim() === "" ? undefined : { endpoint, caHash, token },
  };
  return defined(given);
}

/** The field that a server's issue is about: `["policy", "spot", "noticeSeconds"]` is the notice. */
export function fieldOf({ path }: Issue): DraftField | null {
  const names = path.filter((part) => typeof part === "string");
  const at = names.indexOf("policy");
  const [part = "", inner = ""] = at === -1 ? [] : names.slice(at + 1);
  const known: Readonly<Record<string, DraftField>> = {
    spot: "noticeSeconds",
    sharing: "replicas",
    hugepages: inner === "size2Mi" ? "size2Mi" : "size1Gi",
    kubernetes: inner === "token" || inner === "caHash" ? inner : "endpoint",
  };
  return known[part] ?? (FIELDS.has(part) ? (part as DraftField) : null);
}

const EMPTY = draftOf({});
const FIELDS: ReadonlySet<string> = new Set(Object.keys(EMPTY));

function duration(text: string): string | null {
  return text.trim() === "" || parseDuration(text) !== null ? null : "Such as 90m, 12h or 7d.";
}

function milliseconds(text: string): number | undefined {
  return text.trim() === "" ? undefined : (parseDuration(text) ?? undefined);
}

function linesOf(text: string): string[] | undefined {
  const lines = text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  return lines.length === 0 ? undefined : lines;
}

function list(text: string, longest: number): string | null {
  const lines = linesOf(text) ?? [];
  if (lines.length > 64) return "At most 64 lines.";
  return lines.some((line) => line.length > longest)
    ? `At most ${longest} characters a line.`
    : null;
}

/** The model may hold a colon of its own; a profile holds none. */
function layoutLines(text: string): { model: string; profiles: string[] }[] {
  return (linesOf(text) ?? []).map((line) => {
    const at = line.lastIndexOf(":");
    const [model, rest] = at === -1 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
    const profiles = rest.split(/[\s,]+/).filter(Boolean);
    return { model: model.trim(), profiles };
  });
}

function layoutError(text: string): string | null {
  for (const { model, profiles } of layoutLines(text)) {
    if (profiles.length === 0) return `Say how ${model} is cut: "${model}: 3g.40gb, 2g.20gb".`;
    if (profiles.length > 7) return `${model}: a GPU is cut into at most 7 instances.`;
    const odd = profiles.find((profile) => !/^\d+g\.\d+gb(?:\+[a-z.]+)?$/.test(profile));
    if (odd !== undefined) return `${odd} is no MIG profile such as 3g.40gb.`;
  }
  return null;
}

function layoutOf(text: string): Record<string, string[]> | undefined {
  const lines = layoutLines(text);
  return lines.length === 0
    ? undefined
    : Object.fromEntries(lines.map(({ model, profiles }) => [model, profiles]));
}

/** A join set is whole or not there: a half one would take the cluster away. */
function joinErrors({ endpoint, caHash, token }: Draft): Record<string, string | null> {
  const any = [endpoint, caHash, token].some((text) => text.trim() !== "");
  const missing = (text: string, error: string): string | null =>
    any && text.trim() === "" ? error : null;
  return {
    endpoint: missing(endpoint, "All three or none."),
    caHash: missing(caHash, "All three or none."),
    token: missing(token, "Give the token again: it is never shown. All three or none."),
  };
}

function defined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}
