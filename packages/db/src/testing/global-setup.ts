/** One PostgreSQL a run, with one migrated template that every test file clones. */
import type { TestProject } from "vitest/node";
import { createClient } from "../client.ts";
import { startPostgres } from "../embedded/start-postgres.ts";
import { migrate } from "../migrate.ts";

export const TEMPLATE = "berth_template";

declare module "vitest" {
  export interface ProvidedContext {
    /** URL of the maintenance database of the run's server. */
    berthPostgres: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres({ ephemeral: true });
  try {
    const admin = createClient(server.url("postgres"), { applicationName: "test-setup", max: 1 });
    await admin.unsafe(`create database ${TEMPLATE}`);
    await admin.end();
    await migrate(server.url(TEMPLATE));
    project.provide("berthPostgres", server.url("postgres"));
  } catch (error) {
    await server.stop();
    throw error;
  }
  return () => server.stop();
}
