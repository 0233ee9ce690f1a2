/** Registers machines at a site: from a report, or one by hand. What it makes, changes and leaves is shown before. */
import type { NodeSchedule, Site } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { ReactNode } from "react";
import { useSession } from "../../../app/session.tsx";
import { countText } from "../../../format/gpus.ts";
import { Consequences } from "../../../plan/consequences.tsx";
import { unlessMoved } from "../../../plan/moved.ts";
import { PlanDialog } from "../../../plan/plan-dialog.tsx";
import type { Plan } from "../../../plan/plan-dialog.tsx";
import { Segmented, Select } from "../../../ui/field.tsx";
import { poolName } from "../../pool-names.ts";
import { MachineForm, NO_MACHINE, machineOf, machineRefusal } from "./machine-form.tsx";
import { ReportField } from "./report-field.tsx";
import { planOf, planRefusal, readReport } from "./report.ts";
import type { Fault, Report, ReportPlan } from "./report.ts";

export interface RegisterDialogProps {
  readonly site: Site;
  /** All machines of the site. */
  readonly here: Plan<readonly NodeSchedule[]>;
  readonly onClose: () => void;
}

type How = "report" | "one";

export function RegisterDialog({ site, here, onClose }: RegisterDialogProps): ReactNode {
  const [how, setHow] = useState<How>("report");
  const [text, setText] = useState("");
  const [machine, setMachine] = useState(NO_MACHINE);
  const [poolId, setPool] = useState("");
  const report = useMemo<Report>(
    () => (how === "report" ? readReport(text) : one(machine)),
    [how, text, machine],
  );
  const missing = missingOf(how, text, report);
  const nodes = report.ok ? report.nodes : null;
  const data = useMemo(
    () => (nodes && here.data ? planOf(nodes, here.data) : undefined),
    [nodes, here.data],
  );
  const act = useRegister(site, poolId);
  return (
    <PlanDialog<ReportPlan>
      title={`Register machines at ${site.name}`}
      wide
      gentle
      onClose={onClose}
      plan={{ ...here, data }}
      given={JSON.stringify([nodes, poolId])}
      refusal={planRefusal}
      missing={missing}
      fields={
        <>
          <Segmented
            label="How"
            bare
            value={how}
            choices={[
              { value: "report", name: "A report" },
              { value: "one", name: "One machine" },
            ]}
            onChange={setHow}
          />
          {how === "report" ? (
            <ReportField text={text} faults={faultsOf(text, report)} onChange={setText} />
          ) : (
            <MachineForm draft={machine} onChange={setMachine} />
          )}
          <PoolField site={site} value={poolId} onChange={setPool} />
        </>
      }
      verb={({ nodes: all }) => `Register ${countText(all.length, "machine")}`}
      act={act}
      done={({ nodes: all }) => `${countText(all.length, "machine")} registered`}
    >
      {(shown) => <Outcome plan={shown} />}
    </PlanDialog>
  );
}

function one(machine: typeof NO_MACHINE): Report {
  const refusal = machineRefusal(machine);
  return refusal === null
    ? { ok: true, nodes: [machineOf(machine)] }
    : { ok: false, faults: [{ where: null, what: refusal }] };
}

function missingOf(how: How, text: string, report: Report): string | null {
  if (report.ok) return null;
  if (how === "report" && text.trim() === "") return "Give a report first.";
  return how === "one" ? (report.faults[0]?.what ?? null) : "The report is not as it has to be.";
}

function faultsOf(text: string, report: Report): readonly Fault[] {
  return report.ok || text.trim() === "" ? [] : report.faults;
}

/** A report is the whole of each machine: it is held to what was shown of those that are there. */
function useRegister(site: Site, poolId: string): (plan: ReportPlan) => Promise<unknown> {
  const { berth } = useSession();
  const { id: siteId, tenantId } = site;
  return async ({ known, lost, nodes }) => {
    await unlessMoved(lost, async () => {
      const now = await Promise.all(
        known.map((nodeId) => berth.fleet.getNode({ tenantId, nodeId })),
      );
      return planOf(nodes, now).lost;
    });
    return berth.fleet.putNodes({
      siteId,
      nodes: [...nodes],
      ...(poolId === "" ? {} : { poolId }),
    });
  };
}

interface PoolFieldProps {
  readonly site: Site;
  readonly value: string;
  onChange(poolId: string): void;
}

function PoolField({ site, value, onChange }: PoolFieldProps): ReactNode {
  const { queries } = useSession();
  const { data } = useQuery(queries.pools.list.queryOptions({ tenantId: site.tenantId }));
  const pools = (data?.pools ?? []).filter(
    (pool) => pool.owned && !pool.archived && pool.siteId === site.id,
  );
  return (
    <Select
      label="Pool"
      value={value}
      hint="For machines that are in no pool yet"
      choices={[
        { value: "", name: "No pool for now" },
        ...pools.map((pool) => ({ value: pool.id, name: poolName(pool) })),
      ]}
      onChange={onChange}
    />
  );
}

/** More names would not be read. */
const NAMED_MAX = 5;

function Outcome({ plan }: { readonly plan: ReportPlan }): ReactNode {
  const { elsewhere, fresh, known, lost, untouched } = plan;
  if (elsewhere.length > 0) return <Elsewhere pairs={elsewhere} />;
  return (
    <>
      {lost.length > 0 && (
        <Consequences
          tone="ends"
          heading={`${countText(
            lost.reduce((sum, { gpus }) => sum + gpus, 0),
            "GPU",
          )} reported no longer: bookings on them stay, degraded`}
          items={lost.map(({ gpus, name }) => ({
            id: name,
            what: <span dir="auto">{name}</span>,
            why: countText(gpus, "GPU"),
          }))}
        />
      )}
      <Consequences
        tone="stays"
        heading={`${countText(fresh.length, "new machine")}`}
        items={fresh.slice(0, NAMED_MAX).map((name, index) => ({
          id: name,
          what: <span dir="auto">{name}</span>,
          why:
            index === NAMED_MAX - 1 && fresh.length > NAMED_MAX
              ? `and ${fresh.length - NAMED_MAX} more`
              : null,
        }))}
      />
      <Consequences
        tone="stays"
        heading={`${countText(known.length, "machine")} there already, as reported now; ${countText(untouched, "other")} untouched`}
        items={[]}
      />
    </>
  );
}

/** Nothing else of the plan is true while the server would refuse it. */
function Elsewhere({ pairs }: { readonly pairs: ReportPlan["elsewhere"] }): ReactNode {
  return (
    <Consequences
      tone="blocks"
      heading="Nothing can be registered: GPUs of the report are on other machines already"
      items={pairs.map(({ gpus, name, on }) => ({
        id: `${name} ${on}`,
        what: (
          <>
            {countText(gpus, "GPU")} of <bdi>{name}</bdi>
          </>
        ),
        why: (
          <>
            on <bdi>{on}</bdi>
          </>
        ),
      }))}
    />
  );
}
