/** What nvidia-smi says of a machine's GPUs, and which of them NVLink joins. */
import { describe, expect, it } from "vitest";
import { pciAddress } from "../../src/import/draft.ts";
import { machineOf } from "../../src/import/nvidia/nvidia.ts";
import { changed, fixture, nodeNamed, read } from "./support.ts";

const machine = nodeNamed(read(["hgx-01.xml", "hgx-01.topo.txt"]), "hgx-01");
const gpus = machine.gpus ?? [];

describe("nvidia-smi -q -x", () => {
  it("names the machine after its file, and its GPUs as the driver does", () => {
    expect(gpus[0]).toEqual({
      uuid: "GPU-11111111-1111-4111-8111-111111111110",
      index: 2,
      model: "NVIDIA A100-SXM4-40GB",
      memoryMiB: 40_960,
      pciAddress: "0000:07:00.0",
      nvlinkDomain: "nvlink:GPU-11111111-1111-4111-8111-111111111110",
    });
    expect(machine.labels).toEqual({
      "nvidia.com/cuda.driver-version.full": "580.10.01",
      "nvidia.com/gpu.family": "ampere",
      "mig.gpus": "1",
      "mig.instances": "1",
    });
  });

  it("numbers GPUs by their device file, and by their place when that is not told", () => {
    const without = changed("hgx-01.xml", "<minor_number>3</minor_number>", "");
    expect(gpus.map(({ index }) => index)).toEqual([2, 3, 0, 1]);
    expect(read([without]).nodes[0]?.gpus?.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
  });

  it("calls a GPU faulty that wants an action or a repair, and no GPU sound", () => {
    expect(gpus.map(({ healthy }) => healthy)).toEqual([undefined, false, undefined, false]);
  });

  it.each([
    ["<gpu_recovery_action>None", "<gpu_recovery_action>Reset"],
    ["<pending_retirement>No", "<pending_retirement>Yes"],
    ["<remapped_row_failure>No", "<remapped_row_failure>Yes"],
    ["<total>40960 MiB</total>", "<total>GPU is lost</total>"],
    ["<serial>0000000000000", "<serial>GPU requires reset"],
  ])("calls the first GPU faulty when %s is %s", (from, to) => {
    const [node] = read([changed("hgx-01.xml", from, to)]).nodes;
    expect(node?.gpus?.[0]?.healthy).toBe(false);
  });

  it.each(["Requested functionality has been deprecated", "N/A", "[Not Supported]"])(
    "takes a recovery action of %s for none",
    (action) => {
      const source = changed(
        "hgx-01.xml",
        "<gpu_recovery_action>None",
        `<gpu_recovery_action>${action}`,
      );
      expect(read([source]).nodes[0]?.gpus?.[0]?.healthy).toBeUndefined();
    },
  );

  it("takes the fabric over several machines for the NVLink domain", () => {
    const cluster = "5c6f1f6e-2b1d-4d0e-9c57-0d0a7f3f1a11";
    const { text } = fixture("hgx-01.xml");
    const whole = text
      .replaceAll("<cliqueId>N/A", "<cliqueId>7")
      .replaceAll("<clusterUuid>N/A", `<clusterUuid>${cluster}`);
    const [node] = read([{ file: "rack.xml", text: whole }]).nodes;
    expect(new Set(node?.gpus?.map(({ nvlinkDomain }) => nvlinkDomain))).toEqual(
      new Set([`${cluster}.7`]),
    );
  });

  it("is of the machine that --node names, whose name then says nothing", () => {
    expect(read(["hgx-01.xml", "hgx-01.topo.txt"], { node: "m-7" }).nodes[0]?.name).toBe("m-7");
  });

  it("passes over what a lost GPU makes the driver say before the document", () => {
    const { file, text } = fixture("hgx-01.xml");
    const noisy = `Unable to determine the device handle for GPU 0000:4E:00.0: GPU is lost.\n${text}`;
    expect(read([{ file, text: noisy }]).nodes[0]?.gpus).toHaveLength(4);
  });

  it.each([
    ["<uuid>GPU-11111111-1111-4111-8111-111111111111", "<uuid>GPU is lost", "gpu[1].uuid"],
    ["<total>40960 MiB", "<total>much", "gpu[0].fb_memory_usage.total"],
    ["<product_name>NVIDIA A100-SXM4-40GB", "<product_name>", "gpu[0].product_name"],
    ["8111-111111111111</uuid>", "8111-111111111110</uuid>", "gpus[1].uuid"],
  ])("with %s as %s is refused whole, with file, machine and field", (from, to, field) => {
    expect(() => read([changed("hgx-01.xml", from, to)])).toThrow(
      `hgx-01.xml, record 1 (hgx-01), field ${field}: `,
    );
  });

  it("is refused with a name for several machines", () => {
    const second = { ...fixture("hgx-01.xml"), file: "hgx-02.xml" };
    expect(() => read(["hgx-01.xml", second], { node: "m" })).toThrow("--node names one machine");
  });
});

describe("nvidia-smi topo -m", () => {
  it("makes one domain of GPUs that NVLink joins, and none of the others", () => {
    const domain = "nvlink:GPU-11111111-1111-4111-8111-111111111110";
    expect(gpus.map(({ nvlinkDomain }) => nvlinkDomain)).toEqual([
      domain,
      domain,
      undefined,
      undefined,
    ]);
  });

  it("joins GPUs that reach each other over a third", () => {
    const topo = changed("hgx-01.topo.txt", "GPU2\tSYS\tSYS\t X ", "GPU2\tSYS\tNV4\t X ");
    const domains = read(["hgx-01.xml", topo]).nodes[0]?.gpus?.map((gpu) => gpu.nvlinkDomain);
    expect(new Set(domains?.slice(0, 3)).size).toBe(1);
    expect(domains?.[3]).toBeUndefined();
  });

  it.each([
    [["hgx-01.topo.txt"], "a topology without the nvidia-smi -q -x of hgx-01"],
    [
      ["hgx-01.xml", changed("hgx-01.topo.txt", "GPU3\tSYS\tSYS\tPHB\t X ", "NIC9\tSYS")],
      "4 columns of GPUs and 3 rows",
    ],
    [["hgx-01.xml", changed("hgx-01.topo.txt", "\tGPU3\tNIC0", "\tNIC0")], "3 columns of GPUs"],
  ])("of another shape is refused", (files, problem) => {
    expect(() => read(files)).toThrow(problem);
  });

  it.each([
    ["/captures/gpu-07.xml", "gpu-07"],
    ["gpu-07.topo.txt", "gpu-07"],
    ["gpu-07.topo", "gpu-07"],
    ["gpu-07.lab.example.xml", "gpu-07.lab.example"],
    ["gpu-07", "gpu-07"],
  ])("in %s is of %s", (file, name) => {
    expect(machineOf({ file, text: "" })).toBe(name);
  });
});

it("writes PCI addresses as the kernel does, whoever tells them", () => {
  expect(["00000000:3B:00.0", "0000:3b:00.0", "00010000:3B:00.0"].map(pciAddress)).toEqual([
    "0000:3b:00.0",
    "0000:3b:00.0",
    "10000:3b:00.0",
  ]);
});
