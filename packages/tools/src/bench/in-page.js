/**
 * What runs in the page that is measured: put there before the page's own scripts. Plain JavaScript, as nothing else of
 * this room knows the DOM.
 */
globalThis.berthBench = {
  /** `shown` is kept once a frame shows the first thing which the selector finds. */
  watch(selector) {
    performance.setResourceTimingBufferSize(1_000);
    this.shown = new Promise((done) => {
      const seen = new MutationObserver(() => {
        if (document.querySelector(selector) === null) return;
        seen.disconnect();
        // The frame after the one that is being made has been shown.
        requestAnimationFrame(() => requestAnimationFrame(done));
      });
      seen.observe(document, { childList: true, subtree: true });
    });
  },

  /** When the first nodes had come, when the first thing was shown, and when all was read; ms from the page's start. */
  async times() {
    const shown = await this.shown;
    await new Promise((done) => {
      const look = () =>
        document.querySelector('[aria-label="Loading nodes"]') ? again() : done();
      const again = () => requestAnimationFrame(look);
      look();
    });
    const ends = performance
      .getEntriesByType("resource")
      .filter(({ name }) => name.includes("fleet.listNodes"))
      .map(({ responseEnd }) => responseEnd);
    return { first: Math.min(...ends), shown, whole: Math.max(...ends) };
  },

  /** How long each frame of a scroll took, ms. */
  async frames(selector, scrolls, px) {
    let target = document.querySelector(selector);
    while (target && target.scrollHeight <= target.clientHeight + 1) target = target.parentElement;
    if (target === null) throw new Error("nothing scrolls");
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const taken = [];
    let last = await frame();
    for (let at = 0; at < scrolls; at += 1) {
      target.scrollBy(0, px);
      const now = await frame();
      taken.push(now - last);
      last = now;
    }
    return taken;
  },

  /** How many elements there are once a scroll has come to rest, and how long after its last frame that was, ms. */
  async rest() {
    const since = performance.now();
    let [elements, changed, same] = [0, since, 0];
    while (same < 10) {
      const now = await new Promise((done) => requestAnimationFrame(done));
      const count = document.querySelectorAll("*").length;
      if (count === elements) same += 1;
      else [elements, changed, same] = [count, now, 0];
    }
    return { elements, ms: changed - since };
  },
};
