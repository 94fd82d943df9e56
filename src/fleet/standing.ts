// Claims that stand at the leader. A member that has room does not ask again and again: its claim stays until a job can start for it, or until it expires.
// Every transaction that may have made jobs startable assigns them to the claims that stand, the one that has waited longest first.

import type { Claimed } from "../contracts/scheduler.ts";
import { type Op, StaleTransaction, TermOver } from "../contracts/store.ts";
import { freeOn } from "../core/gates/buckets/capacity.ts";
import type { LimitsView } from "../core/limits-view.ts";
import type { ArgumentsOf } from "../scheduler/operations/core.ts";
import { OPERATIONS } from "../scheduler/operations/index.ts";
import type { Settlement } from "../scheduler/transaction/pending.ts";
import type { Tx } from "../scheduler/transaction/tx.ts";

/** `settle`: called in the transaction that assigns jobs to the claim, ends it, or refuses it. */
export type StandingClaim = { claim: ArgumentsOf<"claim">; until: number; failed?: { error: unknown }; settle(outcome: Settlement): void };

/** One transaction assigns about so many jobs at most: with a thousand hosts that have room it would outlast the timeouts of the leader's session. */
const ASSIGN_MAX = 500;

export class StandingClaims {
	private readonly claims = new Set<StandingClaim>();
	/** How often jobs were assigned to a claim. */
	granted = 0;
	/** There is a reason to try the claims that no transaction has taken up; and: the open transaction has taken one up. */
	private wanted = false;
	private trying = false;

	add(claim: StandingClaim): void {
		this.claims.add(claim);
		this.wanted = true;
	}

	/** Claims that could start nothing may start something now. */
	touch(): void {
		this.wanted = true;
	}

	/** The next transaction ends the claim, unless the present one assigns jobs to it. */
	end(claim: StandingClaim): void {
		claim.until = 0;
		this.wanted = true;
	}

	remove(claim: StandingClaim): void {
		this.claims.delete(claim);
	}

	/** A transaction begins. What one has taken up that was rolled back is to be done again. */
	begin(): void {
		this.wanted ||= this.trying;
		this.trying = false;
	}

	/** The transaction is committed. Returns whether another one has to try claims. */
	commit(): boolean {
		this.trying = false;
		return this.wanted;
	}

	/** Assigns jobs in this transaction, and ends claims that have expired. Hosts of one class are tried until one of them gets nothing: the others would get nothing either. */
	*assign(tx: Tx): Op<void> {
		if (!(tx.stirred || this.wanted)) return;
		this.trying = true;
		this.wanted = false;
		if (this.claims.size === 0) return;
		const world = tx.world();
		const bound = hostsWithBoundJobs(tx);
		const shut = new Set<string>();
		let [left, assigned] = [this.claims.size, 0];
		for (const one of [...this.claims]) {
			if (assigned >= ASSIGN_MAX) return this.touch();
			if (one.failed || one.until <= tx.now) {
				one.settle(one.failed ?? { value: [] });
				left--;
				continue;
			}
			const kind = classOf(tx, one.claim, world, bound);
			const share = Math.max(1, Math.ceil(tx.memory.ready / left--));
			if (shut.has(kind)) continue;
			const claimed = yield* tryClaim(tx, one, share);
			if (claimed === "refused") continue;
			assigned += claimed.length;
			if (claimed.length === 0) shut.add(kind);
			else {
				this.granted++;
				one.settle({ value: claimed });
			}
		}
	}
}

function* tryClaim(tx: Tx, one: StandingClaim, share: number): Op<Claimed[] | "refused"> {
	const before = tx.mutations;
	try {
		return yield* OPERATIONS.claim.run(tx, { ...one.claim, max: Math.min(one.claim.max ?? 1, share) });
	} catch (error) {
		if (error instanceof StaleTransaction || error instanceof TermOver) throw error;
		one.failed = { error };
		// What it has changed is rolled back; the transaction is run again, and the claim refused.
		if (tx.mutations !== before) throw new StaleTransaction("a claim failed after it had changed something");
		one.settle({ error });
		return "refused";
	}
}

/** Hosts that jobs are bound to, because their worktree or session is there. */
function hostsWithBoundJobs(tx: Tx): ReadonlySet<string> {
	const found = new Set<string>();
	for (const { ready, stays } of tx.memory.buckets.values()) if (ready > 0 && stays !== undefined) found.add(stays);
	return found;
}

/**
 * Two claims of one class can start the same jobs. A host that is not live, is drained, or has jobs of its own is a class of its own. All hosts without room are
 * one class: in a busy fleet nearly every host is full, and trying each of them in each transaction would be most of what the leader computes.
 */
function classOf(tx: Tx, { host, lanes, kinds }: ArgumentsOf<"claim">, world: LimitsView, bound: ReadonlySet<string>): string {
	const wanted = `${lanes?.join() ?? "*"}/${kinds.join()}`;
	const record = host === undefined ? undefined : tx.memory.hosts.get(host);
	if (record === undefined || record.state !== "live" || record.drain !== undefined || bound.has(record.name)) return `${wanted} ${host}`;
	if (freeOn(host, world) === 0) return `${wanted}/full`;
	return JSON.stringify([wanted, record.labels, record.repos]);
}
