/** `berth import FILE...`: an inventory into a site of the running server. */
import type { Config } from "../config.ts";
import { NOT_SHOWN } from "../import/difference.ts";
import type { ImportDocument, SiteInput } from "../import/document.ts";
import { FORMATS, type Format, isFormat } from "../import/formats.ts";
import { readInventory } from "../import/read.ts";
import { type ImportReport, importNodes, previewImport } from "../import/run.ts";
import { UsageError } from "./exit.ts";
import { operatorClient } from "./operator.ts";
import type { Output } from "./output.ts";
import { naming } from "./tenants.ts";

export interface ImportCommandOptions {
  readonly tenant?: string;
  readonly site?: string;
  readonly region?: string;
  readonly pool?: string;
  readonly node?: string;
  readonly format?: string;
  readonly dryRun?: boolean;
}

export async function importFiles(
  config: Config,
  output: Output,
  { files, ...options }: ImportCommandOptions & { readonly files: readonly string[] },
): Promise<void> {
  const { node } = options;
  const document = await readInventory(files, { node, format: formatOf(options.format) });
  for (const note of document.notes ?? []) output.say(note);
  const site = siteOf(document, config, options);
  const berth = operatorClient(config);
  const started = performance.now();
  const run = options.dryRun ? previewImport : importNodes;
  const report = await naming(berth, site.tenantId, () =>
    run(berth, document, {
      site,
      poolId: options.pool,
      onProgress: (done, total) => output.progress(`${done} of ${total} nodes`),
    }),
  );
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  if (options.dryRun) for (const line of differences(report)) output.data(line);
  else {
    output.data(`site ${report.siteId}`);
    output.data(summary(report, "unchanged"));
  }
  output.say(options.dryRun ? "dry run: nothing was written" : `done in ${seconds} s`);
}

function formatOf(format: string | undefined): Format | undefined {
  if (format === undefined || isFormat(format)) return format;
  throw new UsageError(`--format must be one of ${Object.keys(FORMATS).join(", ")}`);
}

/** Options win over the file. */
function siteOf(
  document: ImportDocument,
  config: Config,
  options: ImportCommandOptions,
): SiteInput {
  const tenantId = options.tenant ?? document.site?.tenantId ?? config.platformOrg ?? "platform";
  const name = options.site ?? document.site?.name;
  if (name === undefined) throw new UsageError("--site is missing, and the file names no site");
  return {
    ...document.site,
    tenantId,
    name,
    region: options.region ?? document.site?.region ?? "local",
  };
}

function* differences(report: ImportReport): Generator<string> {
  for (const { name, outcome, fields } of report.nodes) {
    if (outcome === "created") yield `+ ${name}`;
    if (outcome === "changed") yield `~ ${name}: ${fields.join(", ")}`;
  }
  yield summary(report, "without a difference that the API shows");
  if (report.counts.created < report.nodes.length)
    yield `not compared, for the API does not show them: ${NOT_SHOWN.join(", ")}`;
}

function summary({ nodes, counts }: ImportReport, same: string): string {
  const { created, changed, unchanged } = counts;
  return `${nodes.length} nodes: ${created} created, ${changed} changed, ${unchanged} ${same}`;
}
