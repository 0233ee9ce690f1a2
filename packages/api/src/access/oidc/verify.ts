/** One token against the issuer's keys and what the operator demands: who it stands for, or why not. */
import { LIMITS } from "@berth/contract";
import { type JWTPayload, errors, jwtVerify } from "jose";
import { z } from "zod";
import { type TokenPrincipal, tokenPrincipal } from "../principal.ts";
import { type Claims, kindProblem, standingOf } from "./claims.ts";
import { type Opened, openToken } from "./header.ts";
import type { IssuerKeys, KeySet } from "./issuer-keys.ts";
import type { Reason, Refusal } from "./refusal.ts";
import type { OidcSettings } from "./settings.ts";
import { objectOf } from "./token-part.ts";

/** How far the issuer's clock and ours may be apart. */
export const TOLERANCE_SECONDS = 30;

export interface Verifier {
  readonly settings: OidcSettings;
  readonly keys: IssuerKeys;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface Verified {
  readonly principal: TokenPrincipal;
  /** The keys that it was checked with: where they changed it is checked again. */
  readonly set: KeySet;
}

/** OpenID Connect Core 1.0, section 2: at most 255 characters of ASCII. No control characters for us. */
const SUBJECT = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;
const seconds = z
  .number()
  .min(0)
  .max(LIMITS.timeMax / 1_000);
const required = z.object({
  sub: z.string().regex(SUBJECT),
  exp: seconds,
  iat: seconds,
  nbf: seconds.optional(),
  aud: z.union([z.string(), z.array(z.string())]),
});

/** @throws ApiError UNAVAILABLE when the issuer's keys cannot be known */
export async function verify(token: string, verifier: Verifier): Promise<Verified | Refusal> {
  const opened = openToken(token, verifier.settings);
  if (typeof opened === "string") return { refused: opened };
  const set = await verifier.keys.current();
  const checked = await checkSignature(token, set, verifier);
  if (checked !== "unknown-key") return settled(checked, { set, opened, verifier });
  const newer = await verifier.keys.newerThan(set);
  if (newer === null) return { refused: "unknown-key" };
  const again = await checkSignature(token, newer, verifier);
  return settled(again, { set: newer, opened, verifier });
}

interface Checked {
  readonly set: KeySet;
  readonly opened: Opened;
  readonly verifier: Verifier;
}

function settled(outcome: Signed | Reason, { set, opened, verifier }: Checked): Verified | Refusal {
  if (typeof outcome === "string") return { refused: outcome };
  const { subject } = outcome;
  if (outcome.problem) return { refused: outcome.problem, subject };
  const claims = objectOf(opened.payload);
  const found = required.safeParse(claims);
  if (!claims || !found.success) return { refused: "claims", subject };
  const { sub, exp, iat } = found.data;
  if (iat > verifier.now() / 1_000 + TOLERANCE_SECONDS) return { refused: "early", subject };
  const { settings } = verifier;
  const problem = kindProblem(claims, settings, opened.saysAccess);
  if (problem) return { refused: problem, subject };
  const standing = standingOf(claims, settings);
  if (typeof standing === "string") return { refused: standing, subject };
  const expiresAt = Math.floor(exp * 1_000);
  const facts = { issuer: settings.issuer, subject: sub, expiresAt, ...standing };
  return { principal: tokenPrincipal(facts), set };
}

/** A token that the issuer did sign; `problem`: its claims do not hold. */
interface Signed {
  readonly problem: Reason | null;
  readonly subject: string | undefined;
}

async function checkSignature(
  token: string,
  set: KeySet,
  { settings, now }: Verifier,
): Promise<Signed | Reason> {
  try {
    const { payload } = await jwtVerify(token, set.find, {
      algorithms: [...settings.algorithms],
      issuer: settings.issuer,
      audience: settings.audience,
      requiredClaims: ["iss", "aud", "sub", "exp", "iat"],
      clockTolerance: TOLERANCE_SECONDS,
      currentDate: new Date(now()),
    });
    return { problem: null, subject: subjectOf(payload) };
  } catch (error) {
    if (error instanceof errors.JWTExpired) return claimsDoNotHold(error.payload, "expired");
    if (error instanceof errors.JWTClaimValidationFailed)
      return claimsDoNotHold(error.payload, REASON_OF_CLAIM[reasonKey(error)] ?? "claims");
    if (
      error instanceof errors.JWKSNoMatchingKey ||
      error instanceof errors.JWKSMultipleMatchingKeys
    )
      return "unknown-key";
    // A key of the set that cannot check, a signature of another length: nothing that could be right.
    return error instanceof errors.JWTInvalid ? "claims" : "signature";
  }
}

const REASON_OF_CLAIM: Readonly<Record<string, Reason>> = {
  "iss check_failed": "issuer",
  "aud check_failed": "audience",
  "aud missing": "audience",
  "nbf check_failed": "early",
};

const reasonKey = ({ claim, reason }: errors.JWTClaimValidationFailed) => `${claim} ${reason}`;

/** Claims are looked at after the signature: this is a token of the issuer's. */
function claimsDoNotHold(payload: JWTPayload, problem: Reason): Signed {
  return { problem, subject: subjectOf(payload) };
}

function subjectOf({ sub }: Claims): string | undefined {
  return typeof sub === "string" && SUBJECT.test(sub) ? sub : undefined;
}
