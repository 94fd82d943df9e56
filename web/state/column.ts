// The columns of the board, and the column of each job. Pure.

import type { Status } from "../../src/core/job.ts";
import type { PageRow } from "./row.ts";

export const COLUMNS = ["asks", "blocked", "queued", "running", "failed", "done"] as const;
export type BoardColumn = (typeof COLUMNS)[number];
const PLACES: Record<Status, BoardColumn> = {
	queued: "queued",
	waiting_on_deps: "blocked",
	waiting_on_locks: "blocked",
	running: "running",
	succeeded: "done",
	failed: "failed",
	cancelled: "done",
	blocked_by_dependency: "failed",
	expired: "failed",
};

export const columnOf = (row: PageRow): BoardColumn => (row.asks !== null ? "asks" : PLACES[row.status]);
