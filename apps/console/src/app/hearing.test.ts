import { describe, expect, it } from "vitest";
import { SIGN_MS, createHearing } from "./hearing.ts";
import { createLiveStore } from "./live-store.ts";

function heardFrom() {
  const store = createLiveStore();
  const all = createHearing(store);
  const { listen, ...rest } = all;
  return { store, listen, hearing: { ...rest, ...listen() }, kind: () => store.get().kind };
}

describe("the page is live", () => {
  it("once the stream is open, and not before", () => {
    const { hearing, kind } = heardFrom();
    hearing.heard(1);
    expect(kind()).toBe("connecting");
    hearing.opened(2);
    expect(kind()).toBe("live");
  });

  it("no longer when a question stays unanswered, until the stream itself is heard again", () => {
    const { hearing, kind, store } = heardFrom();
    hearing.opened(0);
    hearing.unanswered(1_000);
    expect(store.get()).toEqual({ kind: "stale", since: 1_000 });
    hearing.heard(9_000);
    expect(kind()).toBe("live");
  });

  it("again when the server answers, while the stream stands and no sign of it is missing", () => {
    const { hearing, kind } = heardFrom();
    hearing.opened(0);
    hearing.unanswered(1_000);
    hearing.answered(SIGN_MS);
    expect(kind()).toBe("live");
    hearing.unanswered(SIGN_MS);
    hearing.answered(SIGN_MS + 1);
    expect(kind()).toBe("stale");
    hearing.heard(SIGN_MS + 2);
    expect(kind()).toBe("live");
  });

  it("not when the server answers and the stream has broken off", () => {
    const { hearing, kind } = heardFrom();
    hearing.opened(0);
    hearing.unanswered(1_000);
    hearing.broke(2_000);
    hearing.answered(3_000);
    expect(kind()).toBe("stale");
    hearing.opened(4_000);
    expect(kind()).toBe("live");
  });

  it("not by what comes late over a stream that broke off meanwhile", () => {
    const { hearing, kind, store } = heardFrom();
    hearing.opened(0);
    hearing.unanswered(1_000);
    hearing.broke(5_000);
    hearing.heard(6_000);
    expect(store.get()).toEqual({ kind: "stale", since: 1_000 });
    hearing.opened(7_000);
    expect(kind()).toBe("live");
  });

  it("no longer when signs of life stay away, though questions are answered", () => {
    const { hearing, kind, store } = heardFrom();
    hearing.opened(0);
    hearing.heard(15_000);
    hearing.check(15_000 + SIGN_MS);
    expect(kind()).toBe("live");
    hearing.check(15_001 + SIGN_MS);
    expect(store.get()).toEqual({ kind: "stale", since: 15_000 });
  });

  it("only while each stream is: one does not speak for another, and one that is left for none", () => {
    const { hearing, kind, listen } = heardFrom();
    const other = listen();
    hearing.opened(0);
    expect(kind()).toBe("live");
    other.opened(1);
    hearing.broke(2);
    other.heard(3);
    other.opened(4);
    expect(kind()).toBe("stale");
    hearing.opened(5);
    expect(kind()).toBe("live");
    other.broke(6);
    hearing.heard(7);
    expect(kind()).toBe("stale");
    other.close();
    expect(kind()).toBe("live");
  });

  it("is no question for who may not read events", () => {
    const { hearing, store } = heardFrom();
    store.set({ kind: "refused", why: "no role" });
    hearing.unanswered(1);
    hearing.check(1_000_000);
    hearing.heard(1_000_000);
    expect(store.get()).toEqual({ kind: "refused", why: "no role" });
  });
});
