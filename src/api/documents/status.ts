// The state of the whole queue and its hosts: the document of `sluice status`.

import type { HostView } from "../../contracts/fleet.ts";
import type { StatusReport } from "../../contracts/scheduler.ts";
import { isMergeStuck, type MergeStatus } from "../../core/job.ts";
import type { Context } from "../context.ts";
import { maybeTime, rfc3339, type Timed, type Timestamp } from "../documents.ts";

/** `lease_until` is null for a host without a lease: the only host of its store. */
export type HostDocument = Timed<Omit<HostView, "drain">, "heartbeat_at" | "joined_at" | "lease_until"> & {
	drain: Timed<NonNullable<HostView["drain"]>, "at"> | null;
};

export type StatusDocument = ReturnType<typeof statusDocument> & {
	/** Succeeded jobs whose merge continues only after a person acts: a hundred at most. */
	unmerged?: {
		job: number;
		name: string | null;
		merge_status: MergeStatus;
		/** The worktree holds work that is on no commit of its branch. */
		uncommitted: boolean;
		message: string | null;
		/** Where a person can repair it. */
		path: string | null;
		since: Timestamp;
	}[];
	/** Jobs whose runs on this host are frozen by a pause with `freeze`. */
	frozen?: number[];
	/** Why config.yml as it is is not in force; null if it is. */
	config_problem?: string | null;
	/** The port of page and HTTP on 127.0.0.1; null without HTTP. */
	http_port?: number | null;
	/** Why there is no HTTP although a port is set, or why it has another port; null if neither. */
	http_problem?: string | null;
	/** The disk of the home is nearly full. */
	disk_problem?: string | null;
	/** Webhooks whose last attempt failed, with what waits for them. */
	webhook_problems?: { webhook: string; error: string; waiting: number; failed_at: Timestamp | null }[];
	/** The daemon's clock. */
	now?: Timestamp;
};

export const statusDocument = (status: StatusReport) => ({
	schema_version: 1,
	...status,
	paused_at: maybeTime(status.paused_at),
	holds: status.holds.map((hold) => ({ ...hold, since: rfc3339(hold.since), until: maybeTime(hold.until) })),
	hosts: status.hosts.map(hostDocument),
	last_dispatch_at: maybeTime(status.last_dispatch_at),
	/** Jobs that wait for a person, oldest first. `question` is null if approval is needed. */
	needs_human: status.needs_human.map((one) => ({ ...one, since: rfc3339(one.since) })),
	/** Budgets that are used up or near it. */
	budgets: status.budgets.map((one) => ({ ...one, refills_at: maybeTime(one.refills_at) })),
	/** Jobs that ended badly in the last 24 hours and were not retried. */
	recent_failures: { ...status.recent_failures, since: rfc3339(status.recent_failures.since) },
});

export const hostDocument = (host: HostView): HostDocument => ({
	...host,
	heartbeat_at: rfc3339(host.heartbeat_at),
	joined_at: maybeTime(host.joined_at),
	lease_until: maybeTime(host.lease_until),
	drain: host.drain && { ...host.drain, at: rfc3339(host.drain.at) },
});

const MOST_UNMERGED = 100;

/** Jobs whose merge waits for a person. */
export async function unmerged({ scheduler, work }: Context): Promise<NonNullable<StatusDocument["unmerged"]>> {
	const found: NonNullable<StatusDocument["unmerged"]> = [];
	for (const id of work.stuckMerges().slice(0, MOST_UNMERGED)) {
		// A job that is deleted or runs again is no longer stuck.
		const job = await scheduler.show(id).catch(() => null);
		if (!job?.merge_status || !isMergeStuck(job)) continue;
		const { name = null, merge_status, merge_report, ended_at } = job;
		const { message = null, path = null, uncommitted = false } = merge_report ?? {};
		found.push({ job: id, name, merge_status, uncommitted, message, path, since: rfc3339(ended_at ?? job.created_at) });
	}
	return found;
}
