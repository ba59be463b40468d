/** Those who follow a signal. They have one listener together: of more than ten on one signal Node warns as of a leak. */
const followers = new WeakMap<AbortSignal, { acts: Set<() => void>; leave: () => void }>();

/** Have `act` done when the signal comes, which it has not yet; answers what forgets that. */
export function follow(signal: AbortSignal, act: () => void): () => void {
  const { acts, leave } = followers.get(signal) ?? followed(signal);
  acts.add(act);
  return () => {
    if (acts.delete(act) && acts.size === 0) leave();
  };
}

function followed(signal: AbortSignal) {
  const acts = new Set<() => void>();
  const come = (): void => {
    for (const act of [...acts]) act();
  };
  const leave = (): void => {
    signal.removeEventListener("abort", come);
    followers.delete(signal);
  };
  signal.addEventListener("abort", come, { once: true });
  const made = { acts, leave };
  followers.set(signal, made);
  return made;
}
