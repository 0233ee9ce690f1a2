/** Examples of the groups access and events. */
import type { Output } from "../contract.ts";
import { RESERVATIONS } from "./reservations.ts";
import {
  CURSOR,
  type Examples,
  NOW,
  VISION,
  hours,
  keyId,
  poolId,
  reservationId,
} from "./story.ts";

const key: Output<"access.revokeKey"> = {
  id: keyId,
  tenantId: VISION,
  name: "train",
  role: "tenant-operator",
  scope: { poolIds: [poolId], actions: null },
  createdBy: "key:vision/admin",
  createdAt: NOW,
  expiresAt: hours(24 * 90),
  revokedAt: null,
  lastUsedAt: null,
};

export const ACCESS: Examples<"access"> = {
  "access.createKey": [
    {
      summary: "A key for one pool and three months",
      input: {
        tenantId: VISION,
        role: "tenant-operator",
        name: "train",
        scope: { poolIds: [poolId] },
        expiresAt: hours(24 * 90),
      },
      output: { key, secret: "berth_<the token, shown this once>" },
    },
  ],
  "access.listKeys": [
    { summary: "The tenant's keys", input: { tenantId: VISION }, output: { keys: [key] } },
  ],
  "access.revokeKey": [
    {
      summary: "Ended at once, for good",
      input: { keyId },
      output: { ...key, revokedAt: hours(1), lastUsedAt: NOW },
    },
  ],
  "access.whoami": [
    {
      summary: "A key's own answer",
      input: {},
      output: {
        tenantId: VISION,
        name: "train",
        role: "tenant-operator",
        scope: { poolIds: [poolId], actions: null },
        keyId,
        expiresAt: hours(24 * 90),
      },
    },
  ],
  "access.audit": [
    {
      summary: "The newest entry",
      input: { tenantId: VISION, limit: 1 },
      output: {
        entries: [
          {
            id: "1042",
            at: NOW,
            principal: "key:vision/train",
            tenantId: VISION,
            method: "reservations.create",
            outcome: "ok",
            target: reservationId,
            requestId: "0f6d6f3e-5f0c-4f8e-9a55-3d1f6f0a2b11",
            count: 1,
          },
        ],
        nextCursor: CURSOR,
      },
    },
  ],
};

export const EVENTS: Examples<"events"> = {
  "events.list": [
    {
      summary: "What has happened to one reservation",
      input: { tenantId: VISION, reservationId, limit: 1 },
      output: {
        events: [RESERVATIONS["reservations.watch"][0].output],
        nextCursor: CURSOR,
      },
    },
  ],
};
