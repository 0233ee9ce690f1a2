/** `berth`: the operator's commands. Data goes to standard output, everything else to standard error. */
import { Command, Help } from "commander";
import type { ImportCommandOptions } from "./commands/import.ts";
import type { CreateKeyOptions } from "./commands/keys.ts";
import { outliveReaders, standardOutput } from "./commands/output.ts";
import type { PutTenantOptions } from "./commands/tenants.ts";
import { keepCompiled } from "./compile-cache.ts";
import { describeVariables, readConfig } from "./config.ts";
import { version } from "./version.ts";

keepCompiled();
outliveReaders();
const output = standardOutput();
/** Loaded when they run: nobody waits for a server to see a list of options. */
const database = () => import("./commands/database.ts");
const keyCommands = () => import("./commands/keys.ts");
const tenantCommands = () => import("./commands/tenants.ts");

function program(): Command {
  const berth = new Command("berth")
    .description("Books GPUs: exact units, a time axis, tenants with quota.")
    .version(version())
    .exitOverride()
    .configureHelp({ optionDescription: describeOption })
    .showHelpAfterError("(add --help for what there is)")
    .addHelpText("after", `\n${describeVariables()}\n\n${STATUSES}`);

  berth
    .command("serve")
    .description("run the server; without DATABASE_URL on a PostgreSQL of its own")
    .option("--ephemeral", "with a database of its own that is gone afterwards")
    .addHelpText("after", `\n${describeVariables()}`)
    .action(async (options: { ephemeral?: boolean }) => {
      const config = readConfig();
      const { serveUntilStopped } = await import("./commands/serve.ts");
      await serveUntilStopped(config, output, options);
    });

  berth
    .command("import")
    .description("put inventory files into a site of the running server")
    .argument(
      "<file...>",
      "our JSON, openb CSV, kubectl -o json|yaml, nvidia-smi -q -x and topo -m, Slurm's nodes or .conf files",
    )
    .option("--tenant <id>", "the site's owner; else the file's, else the platform")
    .option("--site <name>", "the site's name; else the file's")
    .option("--region <name>", "where it is; else the file's, else local")
    .option("--pool <id>", "join nodes that are in no pool to this one")
    .option("--node <name>", "the machine of an nvidia-smi file; else the file's name without .xml")
    .option("--format <format>", "of every file; else told from what is in each")
    .option("--dry-run", "show what would change and write nothing")
    .action(async (files: string[], options: ImportCommandOptions) => {
      const { importFiles } = await import("./commands/import.ts");
      await importFiles(readConfig(), output, { files, ...options });
    });

  addTenants(berth);
  addKeys(berth);
  addDatabase(berth);
  return berth;
}

const help = new Help();
const describeOption: Help["optionDescription"] = (option) =>
  (option.mandatory ? "(required) " : "") + help.optionDescription(option);

function addTenants(berth: Command): void {
  const tenants = berth
    .command("tenants")
    .description("make, change and list tenants on the running server");
  tenants
    .command("put")
    .description("make a tenant, or change what is given; prints it as JSON")
    .argument("<id>", "1 to 128 letters, digits or . _ : -")
    .option("--parent <id>", "the tenant above it; else as it was, none for a new one")
    .option("--name <name>", "its name for people; else as it was")
    .action(async (tenantId: string, options: PutTenantOptions) =>
      (await tenantCommands()).putTenant(readConfig(), output, { tenantId, ...options }),
    );
  tenants
    .command("list")
    .description("a line of JSON a tenant, of those that the key may see")
    .action(async () => (await tenantCommands()).listTenants(readConfig(), output));
}

function addDatabase(berth: Command): void {
  berth
    .command("migrate")
    .description("bring the database to this version")
    .option("--grant-to <role>", "then give this role what serving needs, and nothing more")
    .action(async (options: { grantTo?: string }) =>
      (await database()).migrateDatabase(readConfig(), output, options),
    );

  berth
    .command("rebuild")
    .description(
      "recount the capacity of pools from their bookings; corrects nothing in a healthy system",
    )
    .argument("[poolId...]", "all when none is named")
    .action(async (poolIds: string[]) => (await database()).rebuild(readConfig(), output, poolIds));

  berth
    .command("doctor")
    .description("check every invariant on the database; status 1 when one does not hold")
    .option("--json", "the report as JSON")
    .option(
      "--explain [check]",
      "say what each finding means and what to do; with a check such as I3: only what that one is",
    )
    .action(async ({ json, explain }: { json?: boolean; explain?: boolean | string }) => {
      const { doctor, explainOne } = await database();
      if (typeof explain === "string") explainOne(output, explain);
      else process.exitCode = await doctor(readConfig(), output, { json, explain });
    });

  berth
    .command("clock")
    .description("the database's clock, after it leapt forward")
    .command("accept")
    .description(
      "let leases lapse again, each at least 30 s from now; run it once the clock is right",
    )
    .action(async () => (await database()).acceptClock(readConfig(), output));

  berth
    .command("openapi")
    .description("print the OpenAPI document")
    .action(async () => {
      const { openapi } = await import("./openapi.ts");
      output.data(openapi().trimEnd());
    });

  // What `pnpm generate` makes reference pages of.
  berth.command("reference", { hidden: true }).action(async () => {
    const { settingsPage } = await import("./settings-page.ts");
    const { metricsPage } = await import("./metrics-page.ts");
    output.data(JSON.stringify({ settings: settingsPage(), metrics: metricsPage() }));
  });
}

function addKeys(berth: Command): void {
  const keys = berth
    .command("keys")
    .description("make, list and revoke keys on the running server");
  keys
    .command("create")
    .description("make a key and print its token, this once")
    .requiredOption("--tenant <id>", "whose key")
    .requiredOption("--role <role>", "tenant-viewer, tenant-operator, tenant-admin or fleet-admin")
    .requiredOption("--name <name>", "keys of one tenant and name are one caller")
    .option("--expires <time>", "from then on it is refused, as 2027-01-31T12:00:00Z")
    .option("--pool <id...>", "only these pools")
    .action(async (options: CreateKeyOptions) =>
      (await keyCommands()).createKey(readConfig(), output, options),
    );
  keys
    .command("list")
    .description("a line of JSON a key")
    .requiredOption("--tenant <id>", "whose keys")
    .action(async (options: { tenant: string }) =>
      (await keyCommands()).listKeys(readConfig(), output, options.tenant),
    );
  keys
    .command("revoke")
    .description("end a key at once, for good; it stays in the list as revoked")
    .argument("<keyId>", "as `keys list` shows it")
    .action(async (keyId: string) => (await keyCommands()).revokeKey(readConfig(), output, keyId));
  keys
    .command("recover")
    .description("make a fleet-admin key in the database itself")
    .addHelpText(
      "after",
      "\nNeeds no key and no running server, but the database: DATABASE_URL, or the embedded one in BERTH_DATA_DIR.\n" +
        "The key is named recovered, belongs to BERTH_PLATFORM_ORG (else platform) and is in its audit trail as made\n" +
        "by operator. Other keys stay as they are: end those that got into other hands with `keys revoke`.",
    )
    .action(async () => (await import("./commands/recover.ts")).recover(readConfig(), output));
}

const STATUSES =
  "Exit status: 0 done, 1 a bug or a violated invariant, 2 wrong usage, 3 no capacity or quota,\n" +
  "4 not found or forbidden, 5 unavailable.";

try {
  await program().parseAsync();
} catch (error) {
  const { endingOf } = await import("./commands/exit.ts");
  const { status, line } = endingOf(error);
  if (line !== null) output.say(`berth: ${line}`);
  process.exitCode = status;
}
