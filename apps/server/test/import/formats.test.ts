/** Files are told apart by what is in them, and nothing in a file can do more than be refused. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ImportError, type Source } from "../../src/import/document.ts";
import { derivedUuid, linkedGroups } from "../../src/import/draft.ts";
import { FORMATS, formatOf } from "../../src/import/formats.ts";
import { fixture, read } from "./support.ts";

const CAPTURES: readonly (readonly [file: string, format: keyof typeof FORMATS])[] = [
  ["fleet.json", "berth"],
  ["openb.csv", "openb"],
  ["kubernetes.json", "kubernetes"],
  ["resourceslices-v1beta1.json", "kubernetes"],
  ["nodes.yaml", "kubernetes"],
  ["hgx-01.xml", "nvidia-smi"],
  ["hgx-01.topo.txt", "nvidia-topo"],
  ["scontrol.txt", "scontrol"],
  ["sinfo-22.05.json", "slurm-json"],
  ["nodes-24.11.json", "slurm-json"],
  ["slurm.conf", "slurm.conf"],
  ["gres.conf", "gres.conf"],
];

describe("the format of a file", () => {
  it.each(CAPTURES)("%s is %s by what is in it", (file, format) => {
    expect(formatOf({ ...fixture(file), file: "inventory" })).toBe(format);
  });

  it("has a capture each", () => {
    expect(new Set(CAPTURES.map(([, format]) => format))).toEqual(new Set(Object.keys(FORMATS)));
  });

  it.each(["", "hello\n", "<html></html>", "a,b,c\n1,2,3\n", "\u0000\u0001"])(
    "of %j is unknown, and the error says what is read and how to insist",
    (text) => {
      expect(() => read([{ file: "x", text }])).toThrow(
        /^x: is in none of the formats .*kubectl get nodes.*--format berth\|openb\|/s,
      );
    },
  );

  it("may be insisted on", () => {
    const file = { file: "x", text: "nothing of the kind" };
    expect(() => read([file], { format: "nvidia-smi" })).toThrow("x: the file is not XML");
    expect(() => read([file], { format: "kubernetes" })).toThrow("x: the file is not a Kubernetes");
  });

  it("of Slurm's reservations is known, and is not one of machines", () => {
    const text =
      "ReservationName=maint StartTime=2026-11-29T15:47:02 EndTime=2026-11-29T17:47:02\n";
    expect(() => read([{ file: "r.txt", text }])).toThrow(
      "r.txt: reservations of Slurm, not machines",
    );
  });

  it("may differ from file to file; a name in two of them is told with both", () => {
    expect(read(["openb.csv", "nodes.yaml", "scontrol.txt"]).nodes).toHaveLength(6);
    const twice = { file: "more.csv", text: fixture("openb.csv").text };
    expect(() => read(["openb.csv", twice])).toThrow(
      "more.csv, record 1 (node-a), field name: is also the name of record 1 of openb.csv",
    );
  });
});

describe("a hostile file", () => {
  /** Processor time, for the machine may have other things to do. */
  const refused = (text: string, problem: RegExp | string) => {
    const before = process.cpuUsage();
    expect(() => read([{ file: "bad", text }])).toThrow(
      expect.toSatisfy(
        (error) =>
          error instanceof ImportError &&
          (typeof problem === "string"
            ? error.message.includes(problem)
            : problem.test(error.message)),
      ) as Error,
    );
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(5_000);
  };
  const laughs = Array.from(
    { length: 12 },
    (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`,
  );

  it("of entities that multiply is refused before it is read", () => {
    const xml = `<!DOCTYPE nvidia_smi_log [<!ENTITY l0 "ha">${laughs.join("")}]>\n<nvidia_smi_log>&l12;</nvidia_smi_log>`;
    refused(xml, "declares entities of its own");
  });

  it("that asks for another file gets none", () => {
    const xml =
      '<!DOCTYPE nvidia_smi_log SYSTEM "file:///etc/hostname">\n<nvidia_smi_log><gpu><uuid>&secret;</uuid></gpu></nvidia_smi_log>';
    refused(xml, /not XML: .*secret/);
  });

  it("of XML nested 200,000 deep is refused", () => {
    refused(`<nvidia_smi_log>${"<a>".repeat(200_000)}`, "the file is not XML");
  });

  it("of JSON nested 1,000,000 deep is refused", () => {
    refused(
      `{"nodes":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`,
      "record 1: must be an object",
    );
    refused(
      `{"kind":"List","apiVersion":"v1","items":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      "record 1",
    );
  });

  it("of YAML nested 100,000 deep, or of aliases that multiply, is refused", () => {
    refused(`kind: List\nitems: ${"[".repeat(100_000)}`, "the file is not YAML");
    refused("kind: &a [x]\nitems: [*a, *a]\n", "the file is not YAML");
  });

  it("of a name that stands for 99,999,999 nodes, or of many lists of many, is refused", () => {
    refused("ClusterName=c\nNodeName=n[1-99999999]\n", "stands for more than");
    const lists = "PartitionName=p Nodes=n[1-60000]\n".repeat(1_000);
    refused(`ClusterName=c\nNodeName=n[1-2]\n${lists}`, "the lists of names stand for more than");
  });

  it("of one line of 4,000,000 letters, or as many blank lines, takes no longer than a file its size", () => {
    refused(`ClusterName=${"a".repeat(4_000_000)}\n`, "the files name no node");
    refused("\n".repeat(4_000_000), "in none of the formats");
    refused(`NodeName=a CPUTot=1 ${"a".repeat(4_000_000)}`, "field State: is missing");
  });

  it("with the names of what every object has makes a label, and nothing else", () => {
    const text = fixture("nodes.yaml").text.replace("nvidia.com/gpu.count", "__proto__");
    expect(read([{ file: "nodes.yaml", text }]).nodes).toHaveLength(1);
    expect(({} as Record<string, unknown>)["2"]).toBeUndefined();
  });

  it.each(CAPTURES)("made of %s by any change is read or refused, and never breaks", (file) => {
    const { text } = fixture(file);
    const edit = fc.record({
      at: fc.nat(text.length),
      cut: fc.nat(40),
      put: fc.oneof(
        fc.constantFrom("", '"', "{", "]", "\n", "-1", "1e400", "null", "\u0000", "\ud800", "é"),
        fc.string({ maxLength: 8 }),
      ),
    });
    const beside = { "gres.conf": "slurm.conf", "hgx-01.topo.txt": "hgx-01.xml" }[file];
    fc.assert(
      fc.property(edit, ({ at, cut, put }) => {
        const mutant: Source = { file, text: text.slice(0, at) + put + text.slice(at + cut) };
        try {
          expect(
            read([mutant, ...(beside === undefined ? [] : [beside])]).nodes.length,
          ).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(ImportError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("the key of a GPU without a UUID", () => {
  it("is the node's name and the number, and fits whatever the name is", () => {
    expect(derivedUuid("n-1", 3)).toBe("n-1-gpu-3");
    fc.assert(
      fc.property(fc.string({ maxLength: 256 }), fc.nat(1_023), (name, index) => {
        expect(derivedUuid(name, index).length).toBeLessThanOrEqual(128 - "nvlink:".length);
        expect(derivedUuid(name, index)).toBe(derivedUuid(name, index));
      }),
    );
  });
});

it("groups by links exactly what a walk over the links reaches", () => {
  const graph = fc.integer({ min: 1, max: 12 }).chain((size) =>
    fc.record({
      size: fc.constant(size),
      links: fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 14 }),
    }),
  );
  fc.assert(
    fc.property(graph, ({ size, links }) => {
      const members = Array.from({ length: size }, (_, at) => `g${at}`);
      const groups = linkedGroups(members, links);
      for (const from of members.keys()) {
        const reached = new Set([from]);
        for (let before = -1; before < reached.size;) {
          before = reached.size;
          for (const [a, b] of links) if (reached.has(a) || reached.has(b)) reached.add(a).add(b);
          if (before === reached.size) break;
        }
        const expected = reached.size > 1 ? `nvlink:g${Math.min(...reached)}` : undefined;
        expect(groups.get(from)).toBe(expected);
      }
    }),
  );
});
