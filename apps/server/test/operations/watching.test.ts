/** Dashboard, alerts and runbooks speak of a running server: its own series, each alert with a page. */
import { readFileSync, readdirSync } from "node:fs";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestServer, startServer } from "../harness.ts";
import { asked } from "./promql.ts";

const DOCS = new URL("../../../docs/", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, DOCS), "utf8");
const TOKEN = "m".repeat(32);
/** Prometheus makes it for each target. */
const GIVEN = new Map([["up", new Set<string>()]]);
const PARTS = ["## What it means", "## How to look", "## What to do", "## When it is harmless"];

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<"summary" | "threshold" | "runbook", string>>;
}
interface Panel {
  readonly title: string;
  readonly type: string;
  readonly description?: string;
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string }[];
}

const rules = (
  parse(read("operations/alerts.yaml")) as { groups: { rules: Rule[] }[] }
).groups.flatMap(({ rules: of }) => of);
const { panels } = JSON.parse(read("operations/grafana-dashboard.json")) as { panels: Panel[] };
const shown = panels.filter(({ type }) => type !== "row");

let server: TestServer;
/** Of a running server: its series, and the labels of each. */
let series: Map<string, Set<string>>;

beforeAll(async () => {
  server = await startServer({ config: { metricsToken: TOKEN } });
  const answer = await fetch(`${server.url}/metrics`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  series = seriesOf(await answer.text());
});
afterAll(() => server.stop());

/** A metric without a sample yet is there by its TYPE line; its labels are those of the reference page. */
function seriesOf(text: string): Map<string, Set<string>> {
  const page = read("reference/metrics.md");
  const found = new Map(GIVEN);
  for (const [, name = "", type = ""] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const row = new RegExp(`^\\| \`${name}\` \\| \\w+ \\| ([^|]*)\\|`, "m").exec(page);
    const labels = new Set((row?.[1] ?? "").split(",").map((label) => label.trim()));
    const names = type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    for (const suffix of names) found.set(`${name}${suffix}`, labels);
  }
  return found;
}

function unknownIn(expression: string): string[] {
  return asked(expression).flatMap(({ series: name, labels }) => {
    const known = series.get(name);
    if (!known) return [name];
    return labels.filter((label) => !known.has(label)).map((label) => `${name}{${label}}`);
  });
}

describe("the names in a query", () => {
  it("are found wherever they stand", () => {
    const text =
      'histogram_quantile(0.99, sum by (le, method) (rate(a_bucket{job="$job",code!="x_y"}[5m]))) > 2e9 and on (instance) b:c{} or absent(up)';
    expect(asked(text)).toEqual([
      { series: "a_bucket", labels: ["code", "method"] },
      { series: "b:c", labels: ["method"] },
      { series: "up", labels: ["method"] },
    ]);
  });

  it("that no server has are told", () => {
    expect(unknownIn("sum(rate(berth_cals_total[5m]))")).toEqual(["berth_cals_total"]);
    expect(unknownIn('berth_calls_total{methd="x"}')).toEqual(["berth_calls_total{methd}"]);
  });
});

describe("the dashboard", () => {
  it("asks only for series and labels that a running server has", () => {
    const unknown = shown.flatMap(({ title, targets = [] }) =>
      targets.flatMap(({ expr }) => unknownIn(expr).map((name) => `${title}: ${name}`)),
    );
    expect(unknown).toEqual([]);
  });

  it("shows every metric of ours", () => {
    const used = shown.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => asked(expr)));
    const names = new Set(used.map(({ series: name }) => name.replace(/_(bucket|sum|count)$/, "")));
    const ours = [...series.keys()]
      .filter((name) => name.startsWith("berth_"))
      .map((name) => name.replace(/_(bucket|sum|count)$/, ""));
    expect(ours.filter((name) => !names.has(name))).toEqual([]);
  });

  it("explains every panel and gives it a unit", () => {
    for (const { title, description = "", fieldConfig } of shown) {
      expect(description.length, title).toBeGreaterThan(20);
      expect(fieldConfig?.defaults.unit, title).toMatch(/\S/);
    }
  });
});

describe("the alerts", () => {
  it("ask only for series and labels that a running server has", () => {
    expect(
      rules.flatMap(({ alert, expr }) => unknownIn(expr).map((name) => `${alert}: ${name}`)),
    ).toEqual([]);
  });

  it("each have a runbook of their own that names them, and explain their threshold", () => {
    for (const { alert, labels, annotations } of rules) {
      expect(["page", "ticket", "info"], alert).toContain(labels.severity);
      expect(annotations.summary.length, alert).toBeGreaterThan(10);
      expect(annotations.threshold.length, alert).toBeGreaterThan(20);
      expect(read(annotations.runbook), alert).toContain(`\`${alert}\``);
    }
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  it("own every runbook there is", () => {
    const owned = rules.map(({ annotations }) => annotations.runbook).toSorted();
    const pages = readdirSync(new URL("runbooks/", DOCS)).map((name) => `runbooks/${name}`);
    expect(owned).toEqual(pages.toSorted());
  });
});

describe("the runbooks", () => {
  it.each(readdirSync(new URL("runbooks/", DOCS)))(
    "%s says what, how, what to do and when not to",
    (name) => {
      const page = read(`runbooks/${name}`);
      const at = PARTS.map((part) => page.indexOf(part));
      expect(at).toEqual(at.toSorted((a, b) => a - b));
      expect(Math.min(...at)).toBeGreaterThan(0);
      for (const [, link = ""] of page.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g))
        if (!link.startsWith("http")) expect(read(`runbooks/${link}`), link).not.toBe("");
      // What it tells a person to type exists.
      for (const { series: metric } of [...page.matchAll(/`([^`\n]*berth_[^`\n]*)`/g)].flatMap(
        ([, text = ""]) => asked(text),
      ))
        if (metric.startsWith("berth_"))
          expect(series.has(metric) || series.has(`${metric}_bucket`), metric).toBe(true);
    },
  );
});
