/**
 * The preview as one types: the request and its concessions in one quote, a moment after the last key. A quote that is
 * not wanted any more is aborted; an event that touches bookings asks again.
 */
import type { Quote, QuotedShape } from "@berth/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { useSession } from "../../app/session.tsx";
import { concessionsOf, fitting, shapeOf } from "./concessions.ts";
import type { Concession } from "./concessions.ts";
import { askOf } from "./form.ts";
import type { Ask, BookForm, PoolFacts } from "./form.ts";
import { leastOf } from "./least.ts";

const PAUSE_MS = 150;

export interface Quoting {
  /** What the form asks for now. */
  readonly ask: Ask;
  /** The answer; null while there is none yet. */
  readonly answer: QuotedShape | null;
  /** What fits instead; empty when it fits. */
  readonly concessions: readonly Concession[];
  /** The answer is to the form as it stands, and nothing newer is on its way. */
  readonly isCurrent: boolean;
  readonly error: unknown;
  /** Asks once more. @returns the new answer @throws when there is none */
  again(): Promise<QuotedShape | null>;
  /**
   * Asks for itself, beside what the page shows, and no longer than this.
   *
   * @throws when there is no answer
   */
  look(timeoutMs: number): Promise<QuotedShape | null>;
}

export function useQuote(form: BookForm, pool: PoolFacts): Quoting {
  const { berth, queries, tenantId } = useSession();
  const settled = useSettled(form, PAUSE_MS);
  const ask = useMemo(() => askOf(form, tenantId, pool), [form, tenantId, pool]);
  const asked = useMemo(() => askOf(settled, tenantId, pool), [settled, tenantId, pool]);
  const tries = useMemo(
    () => concessionsOf({ form: settled, tenantId, pool }),
    [settled, tenantId, pool],
  );
  const shapes = asked.ok ? [shapeOf(asked.request), ...tries.map(({ shape }) => shape)] : [];
  const input = {
    tenantId,
    poolId: pool.id,
    // The smallest request: everything is laid over it, and a gang could not be laid away.
    devices: [{ class: "gpu" as const, count: 1 }],
    duration: asked.ok ? asked.request.duration : "1h",
    alternatives: shapes,
  };
  const query = useQuery({
    ...queries.reservations.quote.queryOptions(input),
    enabled: asked.ok,
    placeholderData: keepPreviousData,
  });
  const answer = asked.ok ? firstOf(query.data) : null;
  const found = query.data && !query.isPlaceholderData ? fittingOf(query.data, tries) : [];
  const isShort = asked.ok && !query.isPlaceholderData && answer !== null && !holds(answer);
  const least = useQuery({
    // Begins as the quote's own key, so that what renews that renews this.
    queryKey: [
      ...queries.reservations.quote.queryKey(input),
      "least",
      found.map(({ words }) => words),
    ],
    queryFn: ({ signal }) =>
      leastOf({ form: settled, tenantId, pool }, found, async (alternatives) => {
        const quote = await berth.reservations.quote(
          { ...input, alternatives: [...alternatives] },
          { signal },
        );
        return quote.alternatives;
      }),
    enabled: isShort,
  });
  return {
    ask,
    answer,
    concessions: isShort ? refined(found, least.data ?? []) : [],
    isCurrent: form === settled && answer !== null && !query.isPlaceholderData,
    error: query.error,
    look: async (timeoutMs) =>
      firstOf(
        await berth.reservations.quote(
          { ...input, alternatives: shapes.slice(0, 1) },
          { timeoutMs },
        ),
      ),
    again: async () => firstOf((await query.refetch({ throwOnError: true })).data),
  };
}

function firstOf(quote: Quote | undefined): QuotedShape | null {
  return quote?.alternatives[0] ?? null;
}

function fittingOf({ alternatives }: Quote, tries: readonly Concession[]): Concession[] {
  const [request, ...answers] = alternatives;
  return request === undefined || holds(request) ? [] : fitting(tries, answers);
}

const holds = ({ preview, quota }: QuotedShape): boolean => preview.fits && quota.ok;

/** What was found coarsely, until the least of its kind is. */
function refined(found: readonly Concession[], least: readonly Concession[]): Concession[] {
  const others = found.filter(({ kind }) => least.every((each) => each.kind !== kind));
  return [...others, ...least];
}

/** The value once it has stood still. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
