// What a daemon's process and the program that starts it agree on.

/** Variables of the run that a command may have been called from: a daemon belongs to no run. */
export const RUN_VARIABLES = ["SLUICE_JOB_ID", "SLUICE_RUN_ID", "SLUICE_ATTEMPT", "SLUICE_SOCKET", "SLUICE_TOKEN", "SLUICE_MARK"] as const;

/** 4 MB for young objects instead of 16: Node does not return that memory after a busy time, and a daemon is idle most of the time. */
export const NODE_FLAGS: readonly string[] = ["--max-semi-space-size=4"];

/**
 * How the lock's refusal begins. It is the only conflict worth a retry: another command may be starting a daemon in this home, or the old daemon may be
 * about to leave.
 */
export const HOME_TAKEN = "a daemon is running in this home already";
