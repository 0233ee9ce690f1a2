/** The check as it is run: it names what was planted, and fails. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const MAIN = path.join(import.meta.dirname, "main.ts");
const DOCUMENT = path.join(import.meta.dirname, "../../../contract/openapi.json");

interface Document {
  readonly paths: Record<string, Record<string, { operationId: string }>>;
}

it("fails on a fault and on a break, and says where each is", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "berth-openapi-"));
  try {
    const { paths, ...rest } = JSON.parse(readFileSync(DOCUMENT, "utf8")) as Document;
    const kept = ["/api/compute/access/whoami", "/api/compute/pools/get"];
    const some = Object.fromEntries(Object.entries(paths).filter(([at]) => kept.includes(at)));
    const whoami = some["/api/compute/access/whoami"]?.["post"];
    if (!whoami) throw new Error("the document has no access.whoami");
    whoami.operationId = "who_am_i";
    const file = path.join(folder, "openapi.json");
    writeFileSync(file, JSON.stringify({ ...rest, paths: some }));
    const run = promisify(execFile)(process.execPath, [MAIN, file]);
    const failed = await run.then(
      () => null,
      (error: unknown) => error as { code: number; stdout: string },
    );
    expect(failed?.code).toBe(1);
    expect(failed?.stdout).toContain("spectral berth-operation-id");
    expect(failed?.stdout).toContain("POST /api/compute/pools/list: the operation is gone");
    expect(failed?.stdout).toContain(
      "POST /api/compute/access/whoami: its operationId was access.whoami",
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
