import { expect, test } from "vitest";
import { keyPrincipal, tokenPrincipal } from "./principal.ts";

/** Every text of up to four of these. */
const PARTS = ["oidc", " ", "/", ":", "https://x", "a"];
const texts = (length: number): string[] =>
  length === 0 ? [""] : texts(length - 1).flatMap((head) => PARTS.map((part) => head + part));
const ALL = [1, 2, 3, 4].flatMap(texts);

test("no two callers share a principal's id, keys' and tokens' taken together", () => {
  const owners = new Map<string, string>();
  const claim = (id: string, owner: object) => {
    const text = JSON.stringify(owner);
    expect(owners.get(id) ?? text, id).toBe(text);
    owners.set(id, text);
  };
  const rest = { role: "tenant-viewer", expiresAt: 1 } as const;
  // Tenant ids hold no slash and no space, issuers no space; names and subjects hold anything.
  const tenants = ALL.filter((text) => text.length < 12 && !/[/ ]/.test(text));
  const issuers = ALL.filter((text) => text.length < 16 && /^https:\/\/x[^ ]*$/.test(text));
  const names = [...texts(1), ...texts(2)];
  const keyId = "key_00000000000000000000000000";
  for (const name of names) {
    for (const tenantId of tenants)
      claim(keyPrincipal({ tenantId, name, keyId, scope: null, ...rest }).id, { tenantId, name });
    for (const issuer of issuers) {
      const facts = { issuer, subject: name, tenantId: "t", ...rest };
      claim(tokenPrincipal(facts).id, { issuer, name });
    }
  }
  expect(owners.size).toBe(names.length * (new Set(tenants).size + new Set(issuers).size));
});
