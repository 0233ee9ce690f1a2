/** The settings of tracing: OpenTelemetry's own names, those of them that are honoured here. */
import { z } from "zod";

export const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

const endpoint = z
  .string()
  .max(2_048)
  .regex(/^https?:\/\/[^\s@]+$/, "must be a URL like http://127.0.0.1:4318, without a password");

const count = (from: number, to: number) =>
  z
    .string()
    .regex(/^\d{1,7}$/, `must be a whole number from ${from} to ${to}`)
    .transform(Number)
    .refine((n) => n >= from && n <= to, `must be a whole number from ${from} to ${to}`);

/** `key=value,key=value`, both percent-encoded, as OpenTelemetry writes lists in the environment. */
const pairs = z
  .string()
  .max(8_192)
  .transform((text, context) => {
    try {
      return Object.fromEntries(
        text
          .split(",")
          .filter((part) => part.trim() !== "")
          .map((part) => {
            const [key = "", value, ...more] = part.split("=").map((each) => each.trim());
            if (key === "" || value === undefined || more.length > 0) throw new Error("no pair");
            return [decodeURIComponent(key), decodeURIComponent(value)];
          }),
      ) as Readonly<Record<string, string>>;
    } catch {
      context.addIssue({
        code: "custom",
        message: "must be a list like name=value,name=value, percent-encoded",
      });
      return z.NEVER;
    }
  });

const ratio = z
  .string()
  .regex(/^(0(\.\d{1,9})?|1(\.0{1,9})?)$/, "must be a number from 0 to 1")
  .transform(Number);

export const TRACING_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: endpoint,
    unset: "no traces",
    says: "collector that takes OTLP over HTTP; traces go to its path /v1/traces",
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    schema: endpoint,
    unset: "OTEL_EXPORTER_OTLP_ENDPOINT/v1/traces",
    says: "the whole address that traces go to",
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: pairs,
    unset: "none",
    says: "headers for the collector, such as its token",
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    schema: z.literal("http/json", "must be http/json: no other protocol is spoken"),
    unset: "http/json",
    says: "how the collector is spoken to",
  },
  OTEL_EXPORTER_OTLP_TIMEOUT: {
    schema: count(1, 60_000),
    unset: "10000",
    says: "milliseconds after which one export is given up",
  },
  OTEL_SERVICE_NAME: {
    schema: z.string().max(255),
    unset: "berth",
    says: "service.name of traces",
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    schema: pairs,
    unset: "none",
    says: "more about this server in its traces, as deployment.environment.name=production",
  },
  OTEL_TRACES_SAMPLER: {
    schema: z.enum(SAMPLERS, `must be one of ${SAMPLERS.join(", ")}`),
    unset: "parentbased_always_on",
    says: "which calls are traced; the ones of parentbased_ do as the caller's traceparent says",
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: ratio,
    unset: "1",
    says: "share of calls that traceidratio and parentbased_traceidratio trace",
  },
  OTEL_BSP_MAX_QUEUE_SIZE: {
    schema: count(1, 1_000_000),
    unset: "2048",
    says: "spans that wait for the collector at most; what comes beyond is dropped and counted",
  },
  OTEL_BSP_SCHEDULE_DELAY: {
    schema: count(10, 60_000),
    unset: "5000",
    says: "milliseconds between two exports",
  },
  OTEL_SDK_DISABLED: {
    schema: z.enum(["true", "false"], "must be true or false"),
    unset: "false",
    says: "true switches traces off, whatever else is set",
  },
} as const;

type Variables = typeof TRACING_VARIABLES;
export type TracingVariable = keyof Variables;

/** Where traces go, and how many. */
export interface TracingSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly serviceName: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly sampler: (typeof SAMPLERS)[number];
  readonly ratio: number;
  readonly queueMax: number;
  /** Milliseconds. */
  readonly delayMs: number;
}

/** Null = no traces: no endpoint is named, or they are switched off. */
export function tracingSettings(
  read: <K extends TracingVariable>(name: K) => z.output<Variables[K]["schema"]> | null,
): TracingSettings | null {
  const base = read("OTEL_EXPORTER_OTLP_ENDPOINT")?.replace(/\/+$/, "");
  const url = read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") ?? (base && `${base}/v1/traces`);
  read("OTEL_EXPORTER_OTLP_PROTOCOL");
  const settings = {
    headers: read("OTEL_EXPORTER_OTLP_HEADERS") ?? {},
    timeoutMs: read("OTEL_EXPORTER_OTLP_TIMEOUT") ?? 10_000,
    serviceName: read("OTEL_SERVICE_NAME") ?? "berth",
    attributes: read("OTEL_RESOURCE_ATTRIBUTES") ?? {},
    sampler: read("OTEL_TRACES_SAMPLER") ?? "parentbased_always_on",
    ratio: read("OTEL_TRACES_SAMPLER_ARG") ?? 1,
    queueMax: read("OTEL_BSP_MAX_QUEUE_SIZE") ?? 2_048,
    delayMs: read("OTEL_BSP_SCHEDULE_DELAY") ?? 5_000,
  };
  const off = read("OTEL_SDK_DISABLED") === "true";
  return url === undefined || url === "" || off ? null : { url, ...settings };
}
