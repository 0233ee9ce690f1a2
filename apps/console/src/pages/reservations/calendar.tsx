/** The calendar: lanes by node, where what is free can be drawn into the booking form, or by booking. */
import type { Reservation } from "@berth/client";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import type { ReactNode } from "react";
import { useNow } from "../../app/now.ts";
import { useZone } from "../../app/zone.tsx";
import { durationInput } from "../../format/duration.ts";
import { Lanes } from "../../lanes/lanes.tsx";
import type { LanesProps } from "../../lanes/lanes.tsx";
import { LanesKey } from "../../lanes/lanes-key.tsx";
import type { Lane, LaneSpan, TimeWindow } from "../../lanes/model.ts";
import { nodeLanes, reservationLanes } from "../../lanes/node-lanes.ts";
import { WindowBar, windowAbout } from "../../lanes/window-bar.tsx";
import { NodesLoaded } from "../../map/nodes-loaded.tsx";
import { useNodes } from "../../map/use-nodes.ts";
import { Segmented } from "../../ui/field.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { LIVE_STATES, useReservations } from "../use-reservations.ts";
import { useSetSearch } from "../use-set-search.ts";
import styles from "./reservations.module.css";
import type { ReservationsSearch } from "./search.ts";

const DAY = 86_400_000;

export function Calendar(): ReactNode {
  const { by } = useSearch({ from: "/reservations" });
  const set = useSetSearch<ReservationsSearch>();
  const { zone } = useZone();
  const now = useNow(30_000);
  const window = useShownWindow(now);
  const setWindow = useCallback(
    ({ from, to }: TimeWindow) => set({ from: Math.round(from), to: Math.round(to) }),
    [set],
  );
  return (
    <>
      <div className={styles["shown"]}>
        <Segmented
          label="A lane is"
          bare
          value={by ?? "node"}
          choices={[
            { value: "node", name: "By node" },
            { value: "reservation", name: "By booking" },
          ]}
          onChange={(next) => set({ by: next === "reservation" ? next : undefined })}
        />
        <WindowBar window={window} now={now} zone={zone} onWindow={setWindow} />
      </div>
      {by === "reservation" ? (
        <ByReservation window={window} onWindow={setWindow} now={now} />
      ) : (
        <ByNode window={window} onWindow={setWindow} now={now} />
      )}
      <LanesKey />
    </>
  );
}

/** Without one in the address, seven days about now; it moves by the hour and not by the second. */
function useShownWindow(now: number): TimeWindow {
  const { from, to } = useSearch({ from: "/reservations" });
  const hour = Math.floor(now / 3_600_000);
  return useMemo(
    () =>
      from !== undefined && to !== undefined
        ? { from, to }
        : windowAbout(hour * 3_600_000, 7 * DAY),
    [from, to, hour],
  );
}

interface ViewProps {
  readonly window: TimeWindow;
  readonly now: number;
  onWindow(window: TimeWindow): void;
}

/** Whole days around the window: zooming within them asks nothing anew. */
function daysAround({ from, to }: TimeWindow): TimeWindow {
  return { from: Math.max(0, Math.floor(from / DAY) * DAY), to: Math.ceil(to / DAY) * DAY };
}

type ShownProps = ViewProps & Pick<LanesProps, "label" | "lanes" | "onDraw">;

/** Lanes with what all of them share: choosing a bar opens its facts. */
function Shown(props: ShownProps): ReactNode {
  const { rsv } = useSearch({ from: "/reservations" });
  const { zone } = useZone();
  const set = useSetSearch<ReservationsSearch>();
  const onSelect = useCallback(
    ({ reservationId }: LaneSpan) => {
      if (reservationId !== null) set({ rsv: reservationId });
    },
    [set],
  );
  return <Lanes {...props} zone={zone} selected={rsv ?? null} onSelect={onSelect} />;
}

function ByNode(view: ViewProps): ReactNode {
  const { pool: poolId } = useSearch({ from: "/reservations" });
  const nodes = useNodes({ poolId, ...daysAround(view.window) });
  const own = useReservations({ ...(poolId === undefined ? {} : { poolId }), state: LIVE_STATES });
  const known = useMemo(
    () => new Map((own.data ?? []).map((each): [string, Reservation] => [each.id, each])),
    [own.data],
  );
  const { soFar } = nodes;
  const lanes = useMemo(
    () => nodeLanes(soFar?.nodes ?? [], known, new Set(soFar?.unread)),
    [soFar, known],
  );
  const onDraw = useDrawn(nodes.data, view.now);
  return (
    <NodesLoaded nodes={nodes} lines={8}>
      {(all) =>
        all.length === 0 ? (
          <Empty title="No nodes">
            {poolId === undefined
              ? "This tenant sees no pool with nodes. Who owns machines can offer it a pool."
              : "This pool has no nodes."}
          </Empty>
        ) : (
          <>
            <Shown {...view} label="Bookings by node" lanes={lanes} onDraw={onDraw} />
            <p className={styles["hint"]}>
              Draw over a free stretch to book it, or choose a bar and press <kbd>B</kbd>.
            </p>
          </>
        )
      }
    </NodesLoaded>
  );
}

/** What was drawn on a node, as the booking form: its pool, its GPUs, that time. What is past cannot be booked. */
function useDrawn(
  nodes: ReturnType<typeof useNodes>["data"],
  now: number,
): (lane: Lane, window: TimeWindow) => void {
  const navigate = useNavigate();
  return useCallback(
    (lane, { from, to }) => {
      const node = nodes?.find(({ id }) => id === lane.id);
      if (!node?.poolId || to <= now) return;
      const gpus = node.units.filter((unit) => unit.class === "gpu").length;
      const start = from <= now ? undefined : from;
      void navigate({
        to: "/book",
        search: ({ tenant }) => ({
          ...(tenant === undefined ? {} : { tenant }),
          ...(start === undefined ? {} : { start }),
          ...(gpus === 0 ? {} : { gpus }),
          pool: node.poolId ?? "",
          together: "node" as const,
          for: durationInput(to - Math.max(from, Math.floor(now / 60_000) * 60_000)),
        }),
      });
    },
    [nodes, now, navigate],
  );
}

function ByReservation(view: ViewProps): ReactNode {
  const { pool: poolId } = useSearch({ from: "/reservations" });
  const query = useReservations({
    ...(poolId === undefined ? {} : { poolId }),
    ...daysAround(view.window),
  });
  const lanes = useMemo(() => reservationLanes(query.data ?? []), [query.data]);
  return (
    <Loaded query={query} what="bookings" lines={8}>
      {(all) =>
        all.length === 0 ? (
          <Empty title="Nothing is booked in this time">
            Look earlier or later, or book something.
          </Empty>
        ) : (
          <Shown {...view} label="Bookings, one a lane" lanes={lanes} />
        )
      }
    </Loaded>
  );
}
