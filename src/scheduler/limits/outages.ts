// Holds on accounts whose provider is down: what opens, lengthens and ends them. The rules are in core/outage.ts.

import type { RunEnd } from "../../contracts/scheduler.ts";
import type { Bucket } from "../../core/bucket.ts";
import { chooseAccount } from "../../core/gates/buckets/capacity.ts";
import { quotaOf } from "../../core/gates/buckets/holds.ts";
import type { ExitKind, Job, RunningJob } from "../../core/job.ts";
import type { LimitsView } from "../../core/limits-view.ts";
import { afterOutage, OUTAGE_CAP_MS, type Outage, outageKey, TURN_MS } from "../../core/outage.ts";
import type { Tx } from "../transaction/tx.ts";

function outageOf(tx: Tx, account: string, agent: string | undefined): Outage | undefined {
	if (tx.memory.holds.size === 0) return undefined;
	const hold = tx.memory.holds.get(outageKey(account, agent));
	return hold?.kind === "outage" ? hold : undefined;
}

/** Exit kinds that prove that the provider answered. */
const ANSWERED: readonly ExitKind[] = ["completed", "rate_limited", "needs_human"];

/** Updates the outage hold when a run on the account has ended. Returns "outage" if the end must not cost the job a retry. */
export function outageAtEnd(
	tx: Tx,
	job: RunningJob,
	account: string,
	{ exit_kind, outage, message }: Pick<RunEnd, "outage" | "message"> & { exit_kind: ExitKind },
): "outage" | undefined {
	if (outage === true && exit_kind === "crashed" && tx.config.rate_limit.outage_max_ms > 0)
		return metOutage(tx, job, account, message ?? "no answer");
	const hold = outageOf(tx, account, job.agent);
	if (hold === undefined) return undefined;
	if (ANSWERED.includes(exit_kind)) accountAnswers(tx, job, account);
	else if (hold.probe === job.id) {
		// The run that probed ended without showing whether the provider is back: let the next job probe.
		const { probe: _probe, ...rest } = hold;
		tx.put("hold", outageKey(account, job.agent), { ...rest, until: tx.now, probed: job.id });
		tx.stirred = true;
	}
	return undefined;
}

function metOutage(tx: Tx, job: RunningJob, account: string, reason: string): "outage" | undefined {
	const hold = outageOf(tx, account, job.agent);
	const found = afterOutage({
		hold,
		startedAt: job.run.started_at,
		last: job.outage,
		now: tx.now,
		chance: tx.chance(),
		config: tx.config,
	});
	job.outage = found.since;
	if (found.hold) {
		const { agent } = job;
		const scope = `account:${account}`;
		tx.put("hold", outageKey(account, agent), {
			kind: "outage",
			scope,
			...(agent === undefined ? {} : { agent }),
			by: tx.by,
			reason,
			...found.hold,
			probed: job.id,
		});
		tx.event("outage", null, { account, agent: agent ?? null, reason, ...found.hold });
		tx.stirred = true;
	}
	return found.burns === "nothing" ? "outage" : undefined;
}

/** Ends the outage: the provider answered a run that began after the outage did. */
export function accountAnswers(tx: Tx, job: RunningJob, account: string): void {
	const hold = outageOf(tx, account, job.agent);
	if (hold === undefined || job.run.started_at <= hold.since) return;
	tx.put("hold", outageKey(account, job.agent), null);
	tx.event("outage_over", null, { account, agent: job.agent ?? null, since: hold.since });
	tx.stirred = true;
}

/**
 * Marks a start that passes the hold as the probe: it tries whether the provider is back, and no other job may start until that run has ended or got an
 * answer. Returns whether the start is such a probe.
 */
export function noteOutageProbe(tx: Tx, job: Job, account: string): boolean {
	const hold = outageOf(tx, account, job.agent);
	if (hold === undefined || tx.config.rate_limit.outage_max_ms === 0) return false;
	tx.put("hold", outageKey(account, job.agent), { ...hold, probe: job.id, until: tx.now + OUTAGE_CAP_MS });
	return true;
}

/**
 * True if this job was the last probe, and another job that could start now would probe the same account. `buckets`: those that the claim may start from.
 */
export function isAnothersTry(tx: Tx, job: Job, own: Bucket, world: LimitsView, buckets: () => readonly Bucket[]): boolean {
	if (tx.memory.holds.size === 0 || tx.config.rate_limit.outage_max_ms === 0) return false;
	const quotaFor = (bucket: Bucket) => quotaOf(bucket.kind, chooseAccount(bucket, world) ?? undefined);
	const account = quotaFor(own);
	const hold = account === undefined ? undefined : outageOf(tx, account, job.agent);
	if (hold?.probed !== job.id || hold.probe !== undefined) return false;
	return buckets().some((one) => one.agent === job.agent && one.ready > (one.id === own.id ? 1 : 0) && quotaFor(one) === account);
}

/** Delays the job that probed last for a moment, so that another job probes. */
export function letOthersTry(tx: Tx, job: Job): void {
	job.backoff_until = tx.now + TURN_MS;
	tx.work.reevaluate(job);
}
