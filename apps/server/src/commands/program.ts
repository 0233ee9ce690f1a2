/**
 * The operators' commands as commander knows them. Whatever one needs is loaded when it runs: nobody waits for a
 * server to see a list of options, and the people's command line takes these up as they are.
 */
import { type Command, Help } from "commander";
import type { EphemeralOptions } from "./ephemeral.ts";
import type { Config } from "../config.ts";
import type { Ending } from "./exit.ts";
import type { ImportCommandOptions } from "./import.ts";
import type { CreateKeyOptions } from "./keys.ts";
import { standardOutput } from "./output.ts";
import type { PutTenantOptions } from "./tenants.ts";

const output = standardOutput();
const database = () => import("./database.ts");
const keyCommands = () => import("./keys.ts");
const tenantCommands = () => import("./tenants.ts");
const settings = () => import("../config.ts");
const config = async (): Promise<Config> => (await settings()).readConfig();

/**
 * Where, and as whom, the one who runs a command has signed in with the people's command line; null: nowhere, and
 * the server of this machine is meant.
 */
export type SignIn = () => Promise<{ readonly url: string; readonly token: string } | null>;

/** Puts the operators' commands under `berth`. */
export function addOperatorCommands(
  berth: Command,
  signIn: SignIn = () => Promise.resolve(null),
): void {
  const customer = async (): Promise<Config> => {
    const settled = await config();
    const login = await signIn();
    return login ? { ...settled, url: login.url, token: login.token } : settled;
  };
  // Commands take this over from the one above them when they are made.
  berth.configureHelp({ optionDescription: describeOption });
  berth.hook("preSubcommand", async (_berth, command) => {
    if (command.name() !== "serve") return;
    const { describeVariables } = await settings();
    command.addHelpText("after", `\n${describeVariables()}`);
  });
  addServe(berth);
  addImport(berth, customer);
  addTenants(berth, customer);
  addKeys(berth, customer);
  addDatabase(berth);
}

/** How a command of an operator that threw ends: one line for the person, and an exit status. */
export async function operatorEnding(error: unknown): Promise<Ending> {
  return (await import("./exit.ts")).endingOf(error);
}

/** `help keys create` as `keys create --help`: what only help shows is loaded on that way alone. */
export function helpAsOption(args: readonly string[]): readonly string[] {
  return args[0] === "help" ? [...args.slice(1), "--help"] : args;
}

const help = new Help();
const describeOption: Help["optionDescription"] = (option) =>
  (option.mandatory ? "(required) " : "") + help.optionDescription(option);

function addServe(berth: Command): void {
  berth
    .command("serve")
    .description("run the server; without DATABASE_URL on a PostgreSQL of its own")
    .option(
      "--ephemeral",
      "for tests: on a free port, with a database that is gone afterwards; prints its address and key as JSON",
    )
    .option("--with-parent", "with --ephemeral: end when standard input does")
    .option(
      "--fleet <file>",
      "with --ephemeral: with this inventory in pools that tenants may book in; `demo` is the example's",
    )
    .action(async (options: EphemeralOptions & { ephemeral?: boolean }) => {
      if (options.ephemeral) {
        const { serveEphemeral } = await import("./ephemeral.ts");
        return serveEphemeral(output, options);
      }
      const settled = await config();
      const { serveUntilStopped } = await import("./serve.ts");
      const { refuseEphemeralOptions } = await import("./ephemeral.ts");
      refuseEphemeralOptions(options);
      return serveUntilStopped(settled, output);
    });
}

/** Settings of a command that calls a server. */
type Customer = () => Promise<Config>;

function addImport(berth: Command, customer: Customer): void {
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
      const { importFiles } = await import("./import.ts");
      await importFiles(await customer(), output, { files, ...options });
    });
}

function addTenants(berth: Command, customer: Customer): void {
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
      (await tenantCommands()).putTenant(await customer(), output, { tenantId, ...options }),
    );
  tenants
    .command("list")
    .description("a line of JSON a tenant, of those that the key may see")
    .action(async () => (await tenantCommands()).listTenants(await customer(), output));
}

function addDatabase(berth: Command): void {
  berth
    .command("migrate")
    .description("bring the database to this version")
    .option("--grant-to <role>", "then give this role what serving needs, and nothing more")
    .action(async (options: { grantTo?: string }) =>
      (await database()).migrateDatabase(await config(), output, options),
    );

  berth
    .command("rebuild")
    .description(
      "recount the capacity of pools from their bookings; corrects nothing in a healthy system",
    )
    .argument("[poolId...]", "all when none is named")
    .action(async (poolIds: string[]) =>
      (await database()).rebuild(await config(), output, poolIds),
    );

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
      else process.exitCode = await doctor(await config(), output, { json, explain });
    });

  berth
    .command("clock")
    .description("the database's clock, after it leapt forward")
    .command("accept")
    .description(
      "let leases lapse again, each at least 30 s from now; run it once the clock is right",
    )
    .action(async () => (await database()).acceptClock(await config(), output));

  berth
    .command("openapi")
    .description("print the OpenAPI document")
    .action(async () => {
      const { openapi } = await import("../openapi.ts");
      output.data(openapi().trimEnd());
    });

  // What `pnpm generate` makes reference pages of.
  berth.command("reference", { hidden: true }).action(async () => {
    const { settingsPage } = await import("../settings-page.ts");
    const { metricsPage } = await import("../metrics-page.ts");
    output.data(JSON.stringify({ settings: settingsPage(), metrics: metricsPage() }));
  });
}

function addKeys(berth: Command, customer: Customer): void {
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
      (await keyCommands()).createKey(await customer(), output, options),
    );
  keys
    .command("list")
    .description("a line of JSON a key")
    .requiredOption("--tenant <id>", "whose keys")
    .action(async (options: { tenant: string }) =>
      (await keyCommands()).listKeys(await customer(), output, options.tenant),
    );
  keys
    .command("revoke")
    .description("end a key at once, for good; it stays in the list as revoked")
    .argument("<keyId>", "as `keys list` shows it")
    .action(async (keyId: string) =>
      (await keyCommands()).revokeKey(await customer(), output, keyId),
    );
  keys
    .command("recover")
    .description("make a fleet-admin key in the database itself")
    .addHelpText(
      "after",
      "\nNeeds no key and no running server, but the database: DATABASE_URL, or the embedded one in BERTH_DATA_DIR.\n" +
        "The key is named recovered, belongs to BERTH_PLATFORM_ORG (else platform) and is in its audit trail as made\n" +
        "by operator. Other keys stay as they are: end those that got into other hands with `keys revoke`.",
    )
    .action(async () => (await import("./recover.ts")).recover(await config(), output));
}
