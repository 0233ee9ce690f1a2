/**
 * The plan before the blow: the dialog loads what the call would do at once, its button carries the number, and it is
 * dead until the plan on the screen is the present one. What is done is what was shown, or nothing: a CONFLICT shows
 * the new plan and waits for the person again.
 */
import { isBerthError } from "@berth/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReactNode } from "react";
import { toast } from "../ui/toast.ts";
import { PlanMoved } from "./moved.ts";
import { Dialog, DialogFoot } from "../ui/dialog.tsx";
import { ErrorBox, Loading, Partial } from "../ui/states.tsx";

/** A plan that is made anew when something changes: a query, or what is derived from one. */
export interface Plan<P> {
  readonly data: P | undefined;
  readonly error: Error | null;
  readonly isFetching: boolean;
  readonly refetch: () => Promise<unknown>;
}

/** A plan that the page has already: live events renew what it is made of. */
export function knownPlan<P>(data: P): Plan<P> {
  return { data, error: null, isFetching: false, refetch: () => Promise.resolve() };
}

export interface PlanDialogProps<P> {
  readonly title: string;
  readonly onClose: () => void;
  /** What would happen; live events make it again. */
  readonly plan: Plan<P>;
  /** What the plan is made for, where the person has a say in it. */
  readonly fields?: ReactNode;
  /** Why there can be no plan yet. */
  readonly missing?: string | null;
  readonly children: (plan: P) => ReactNode;
  /** The button, with the number: `Terminate 3 spot reservations`. */
  readonly verb: (plan: P) => string;
  /** Does exactly what the plan says, or rejects. */
  readonly act: (plan: P) => Promise<unknown>;
  /** What is said when it is done. */
  readonly done: (plan: P) => string;
  /** Why the plan cannot be carried out at all; null: it can. */
  readonly refusal?: (plan: P) => string | null;
  /**
   * What is asked for, as text. A refusal is of exactly that: until it changes the plan is not shown and the button is
   * dead. Absent: it may be tried again at once.
   */
  readonly given?: string;
  /** It takes nothing from anybody. */
  readonly gentle?: boolean;
  readonly wide?: boolean;
}

export function PlanDialog<P>(props: PlanDialogProps<P>): ReactNode {
  const { title, onClose, plan, fields, missing, children, verb, refusal } = props;
  const { gentle = false, wide = false } = props;
  const { busy, error, hasMoved, isRefused, press } = useDoing(props);
  const { data } = plan;
  const dead =
    missing ??
    staleness(plan) ??
    (isRefused ? "The server refused this: change what is asked for." : null) ??
    (data === undefined ? null : (refusal?.(data) ?? null));
  return (
    <Dialog
      title={title}
      isOpen
      wide={wide}
      alert={!gentle}
      onClose={onClose}
      foot={
        <DialogFoot
          onCancel={onClose}
          verb={data === undefined ? "No plan yet" : verb(data)}
          kind={gentle ? "primary" : "danger"}
          reason={dead}
          busy={busy}
          onAct={press}
        />
      }
    >
      {fields}
      {hasMoved && (
        <Partial>Something changed meanwhile and nothing was done. This is the new plan.</Partial>
      )}
      {error !== null && <ErrorBox error={error} />}
      {data !== undefined && !isRefused && children(data)}
      {data === undefined && plan.error !== null && (
        <ErrorBox error={plan.error} onRetry={() => void plan.refetch()} />
      )}
      {data === undefined && plan.isFetching && <Loading what="the plan" />}
    </Dialog>
  );
}

interface Doing {
  readonly busy: boolean;
  readonly hasMoved: boolean;
  /** Why it was not done; null for what has moved, and once something else is asked for. */
  readonly error: Error | null;
  /** The server has said no to exactly what is asked for now. */
  readonly isRefused: boolean;
  press(): void;
}

function useDoing<P>({ act, done, given, onClose, plan }: PlanDialogProps<P>): Doing {
  const client = useQueryClient();
  const [hasMoved, setMoved] = useState(false);
  const [tried, setTried] = useState<string | undefined>();
  const doing = useMutation({
    mutationFn: act,
    onSuccess: (_answer, shown) => {
      toast.success(done(shown));
      void client.invalidateQueries();
      onClose();
    },
    onError: (error) => {
      if (!hasChanged(error)) return;
      setMoved(true);
      void plan.refetch();
    },
  });
  const isOfThis = tried === given;
  const error = isOfThis && !hasChanged(doing.error) ? doing.error : null;
  return {
    busy: doing.isPending,
    hasMoved,
    error,
    isRefused: given !== undefined && isRefusal(error),
    press() {
      if (plan.data === undefined) return;
      setMoved(false);
      setTried(given);
      doing.mutate(plan.data);
    },
  };
}

/** The same call would be answered the same; a server out of reach may be back in a moment. */
function isRefusal(error: unknown): boolean {
  return isBerthError(error) && !error.retryable;
}

function hasChanged(error: unknown): boolean {
  return error instanceof PlanMoved || isBerthError(error, "CONFLICT");
}

/** Why the plan on the screen may not be acted on; null when it is the present one. */
function staleness<P>({ data, error, isFetching }: Plan<P>): string | null {
  if (isFetching)
    return data === undefined ? "The plan is being made." : "The plan is being made again.";
  return error === null ? null : "There is no plan: it could not be made.";
}
