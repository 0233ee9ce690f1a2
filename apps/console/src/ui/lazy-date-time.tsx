/** The date and time field, fetched when it is first shown. */
import { Suspense, lazy } from "react";
import type { ReactNode } from "react";
import type { DateTimeProps } from "./date-time.tsx";
import { Loading } from "./states.tsx";

const DateTime = lazy(async () => ({ default: (await import("./date-time.tsx")).DateTime }));

export function LazyDateTime(props: DateTimeProps): ReactNode {
  return (
    <Suspense fallback={<Loading what="the calendar" lines={1} />}>
      <DateTime {...props} />
    </Suspense>
  );
}
