/**
 * The plan before the blow: the dialog loads what the call would do at once, its button carries the number, and it is
 * dead until the plan on the screen is the present one. What is done is what was shown, or nothing: a CONFLICT shows
 * the new plan and waits for the person again.
 */
import { isBerthError } from "@berth/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReactNode } from "react";
import { toast } from "sonner";
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
  /** It takes nothing from anybody. */
  readonly gentle?: boolean;
  readonly wide?: boolean;
}

export function PlanDialog<P>(props: PlanDialogProps<P>): ReactNode {
  const { title, onClose, plan, fields, missing, children, verb, act, done, refusal } = props;
  const { gentle = false, wide = false } = props;
  const client = useQueryClient();
  const [hasMoved, setMoved] = useState(false);
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
  const { data } = plan;
  const dead =
    missing ?? staleness(plan) ?? (data === undefined ? null : (refusal?.(data) ?? null));
  const press = (): void => {
    if (data === undefined) return;
    setMoved(false);
    doing.mutate(data);
  };
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
          busy={doing.isPending}
          onAct={press}
        />
      }
    >
      {fields}
      {hasMoved && (
        <Partial>Something changed meanwhile and nothing was done. This is the new plan.</Partial>
      )}
      {doing.error !== null && !hasChanged(doing.error) && <ErrorBox error={doing.error} />}
      {data !== undefined && children(data)}
      {data === undefined && plan.error !== null && (
        <ErrorBox error={plan.error} onRetry={() => void plan.refetch()} />
      )}
      {data === undefined && plan.isFetching && <Loading what="the plan" />}
    </Dialog>
  );
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
