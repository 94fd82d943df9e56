// Maximum duration of one pass (recovery, sweeps, probes, then starts), as preset town requires.

export const PASS_MS = 5 * 60_000;
export const ABANDONED = "a pass took longer than 5 minutes: it is abandoned, and the next one begins";
