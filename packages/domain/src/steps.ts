/** Searches that pause: what they find, and how they are run. */

/** From its beginning to its end without a pause. */
export function through<T>(steps: Generator<void, T, void>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * What the search finds, pausing where it does. When the state changed during a pause, it begins anew and then runs
 * through, so the answer is always exact for the state that the caller has in its hands.
 */
export function* exactly<T>(
  state: { readonly revision: number },
  search: () => Generator<void, T, void>,
): Generator<void, T, void> {
  const { revision } = state;
  const steps = search();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    yield;
    if (state.revision !== revision) return through(search());
  }
}
