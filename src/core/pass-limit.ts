// How long one pass (recovery, sweeps, probes, then starts) may take: 001's bound.

export const PASS_MS = 5 * 60_000;
export const ABANDONED = "a pass took longer than 5 minutes: it is abandoned, and the next one begins";
