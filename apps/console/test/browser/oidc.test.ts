/** Signing in through the issuer that the server names. */
import { withBerth } from "@berth/client/testing";
import type { TestBerth } from "@berth/client/testing";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AUDIENCE, CLIENT_ID, apart, startIssuer } from "./issuer.ts";
import type { Issuer } from "./issuer.ts";
import { CLI, launch, openPage, settled } from "./kit.ts";

let issuer: Issuer;
let server: TestBerth;
let browser: Browser;

beforeAll(async () => {
  issuer = await startIssuer({ sub: "ada", tenant: "vision", roles: ["tenant-operator"] });
  [server, browser] = await Promise.all([start(), launch()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
  await issuer.close();
});

function start(more: Readonly<Record<string, string>> = {}): Promise<TestBerth> {
  const env = {
    BERTH_OIDC_ISSUER: issuer.url,
    BERTH_OIDC_AUDIENCE: AUDIENCE,
    BERTH_OIDC_ROLE_CLAIM: "roles",
    BERTH_OIDC_TENANT_CLAIM: "tenant",
    BERTH_OIDC_CLIENT_ID: CLIENT_ID,
    ...more,
  };
  return withBerth({ command: [process.execPath, CLI], fleet: "demo", env });
}

const open = (path: string) => openPage(browser, server.url + path, { token: null });
const button = "Sign in with 127.0.0.1";

it("leads to the issuer and back to the very page, without a trace of the code", async () => {
  const { page, complaints } = await open("/reservations?view=table");
  await page.getByRole("button", { name: button }).click();
  await page.getByRole("heading", { level: 1, name: "Reservations" }).waitFor();
  await settled(page);
  const { pathname, searchParams } = new URL(page.url());
  expect([pathname, searchParams.get("view"), searchParams.get("code")]).toEqual([
    "/reservations",
    "table",
    null,
  ]);
  await page.getByRole("button", { name: "Signed in as ada" }).waitFor();
  expect(issuer.grants).toEqual(["authorization_code"]);
  expect(complaints).toEqual([]);
});

it("a token that is about to end is renewed, and nobody notices", async () => {
  issuer.lifetime = 1;
  const { page } = await open("/");
  await page.getByRole("button", { name: button }).click();
  await settled(page);
  expect(issuer.grants).toContain("refresh_token");
  issuer.lifetime = 300;
});

it("a coming back that nobody left for is refused, and says so", async () => {
  const { page } = await open("/sign-in?code=stolen&state=guessed");
  await page.getByRole("alert").getByText("not to a sign-in that began here").waitFor();
  await page.getByRole("button", { name: button }).waitFor();
});

it("what the issuer says no with is shown as text", async () => {
  const said = "<img src=x onerror=alert(1)>";
  const { page, complaints } = await open(
    `/sign-in?error=access_denied&error_description=${encodeURIComponent(said)}`,
  );
  await page.getByRole("alert").getByText(said).waitFor();
  expect(complaints).toEqual([]);
});

it("a token endpoint on another host is refused before anybody leaves, with what to set", async () => {
  issuer.isApart = true;
  const { page, complaints } = await open("/sign-in");
  await page.getByRole("button", { name: button }).click();
  const alert = page.getByRole("alert");
  await alert.getByText("sets BERTH_OIDC_TOKEN_URI to it").waitFor();
  expect(await alert.textContent()).toContain(apart(issuer.url));
  expect(new URL(page.url()).origin).toBe(new URL(server.url).origin);
  expect(complaints).toEqual([]);
  issuer.isApart = false;
});

it("with the setting it is asked, and the page's policy lets it", async () => {
  issuer.isApart = true;
  const told = await start({ BERTH_OIDC_TOKEN_URI: `${apart(issuer.url)}/token` });
  try {
    const { page, complaints } = await openPage(browser, `${told.url}/pools`, { token: null });
    await page.getByRole("button", { name: button }).click();
    await page.getByRole("heading", { level: 1, name: "Pools" }).waitFor();
    await settled(page);
    expect(complaints).toEqual([]);
  } finally {
    issuer.isApart = false;
    await told.stop();
  }
});
