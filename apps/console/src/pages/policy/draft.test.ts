import { describe, expect, it } from "vitest";
import { draftOf, errorsOf, fieldOf, policyOf } from "./draft.ts";
import type { Draft } from "./draft.ts";

const draft = (given: Partial<Draft>): Draft => ({ ...draftOf({}), ...given });

describe("a policy in a form", () => {
  it("comes back as it was", () => {
    const policy = {
      label: "fast",
      placement: "spread",
      spot: { noticeSeconds: 60 },
      maxDuration: 3_600_000,
      singleTenant: true,
      migLayout: { "NVIDIA A100-SXM4-80GB": ["3g.40gb", "2g.20gb"] },
      hugepages: { size2Mi: 512 },
      kernelModules: ["vfio", "nvme"],
    };
    expect(policyOf(draftOf(policy), "mig")).toEqual(policy);
    expect(policyOf(draftOf({}), "exclusive")).toEqual({});
  });

  it("leaves out what the sharing mode has no use for", () => {
    const given = draft({ replicas: "4", migLayout: "A100: 3g.40gb" });
    expect(policyOf(given, "timeslice")).toEqual({ sharing: { replicas: 4 } });
    expect(policyOf(given, "mig")).toEqual({ migLayout: { A100: ["3g.40gb"] } });
    expect(policyOf(given, "exclusive")).toEqual({});
  });

  it("is checked at each boundary", () => {
    const wrong = (given: Partial<Draft>, sharing = "exclusive"): string[] =>
      Object.keys(errorsOf(draft(given), sharing));
    expect(wrong({ noticeSeconds: "3600", replicas: "99" })).toEqual([]);
    expect(wrong({ noticeSeconds: "3601" })).toEqual(["noticeSeconds"]);
    expect(wrong({ noticeSeconds: "1.5" })).toEqual(["noticeSeconds"]);
    expect(wrong({ replicas: "2" }, "mps")).toEqual([]);
    expect(wrong({ replicas: "1" }, "mps")).toEqual(["replicas"]);
    expect(wrong({ maxDuration: "soon" })).toEqual(["maxDuration"]);
    expect(wrong({ label: "x".repeat(257) })).toEqual(["label"]);
    expect(wrong({ migLayout: "A100: 3g.40gb, huge" }, "mig")).toEqual(["migLayout"]);
    expect(wrong({ migLayout: "A100" }, "mig")).toEqual(["migLayout"]);
    expect(wrong({ kernelModules: "a\n".repeat(65) })).toEqual(["kernelModules"]);
  });

  it("asks for the join token again rather than dropping the cluster", () => {
    const kept = draftOf({ kubernetes: { endpoint: "https://k", caHash: "sha", tokenSet: true } });
    expect(Object.keys(errorsOf(kept, "exclusive"))).toEqual(["token"]);
    expect(errorsOf({ ...kept, token: "t" }, "exclusive")).toEqual({});
    expect(policyOf({ ...kept, token: "t" }, "exclusive").kubernetes).toEqual({
      endpoint: "https://k",
      caHash: "sha",
      token: "t",
    });
  });

  it("finds the field of an issue of the server's", () => {
    const at = (...path: (string | number)[]) => fieldOf({ path, message: "" });
    expect(at("policy", "spot", "noticeSeconds")).toBe("noticeSeconds");
    expect(at("policy", "migLayout", "A100", 2)).toBe("migLayout");
    expect(at("policy", "kubernetes", "caHash")).toBe("caHash");
    expect(at("gpuModel")).toBeNull();
  });
});
