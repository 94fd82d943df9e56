// Which account a run would use, and what keeps it from each: pauses, rate limits, closed accounts, caps, spacing after a limit.

import { laneOf } from "../../../src/core/config.ts";
import { accountOf, freshAccount, type ModelJob, type State } from "../state.ts";
import { counting } from "../waits.ts";
import { isHeld } from "./late.ts";
import { isDown, isLongDown } from "./outages.ts";
import type { Refusal } from "./refusal.ts";

export const limitedUntil = (state: State, name: string): number | null => accountOf(state, name).until;

/** Why a run of this agent may not start on this account now. */
export function accountRefusals(state: State, name: string, agent: string | undefined, now: number): Refusal[] {
	const list: Refusal[] = [];
	const account = accountOf(state, name);
	const subject = `account:${name}`;
	if (isHeld(state, subject, now)) list.push({ gate: "holds", codes: ["paused"], subject });
	if (account.closed !== null) list.push({ gate: "holds", codes: ["account_closed"], subject });
	if (account.until !== null && account.until > now) list.push({ gate: "holds", codes: ["rate_limited"], subject });
	else if (isSpaced(state, name, now)) list.push({ gate: "holds", codes: ["rate_limited"], subject });
	if (isDown(state, name, agent, now)) list.push({ gate: "holds", codes: ["outage"], subject });
	const max = state.config.accounts[name]?.max ?? null;
	if (max !== null && counting(state).filter((job) => job.run?.account === name).length >= max)
		list.push({ gate: "capacity", codes: ["capacity"], subject });
	return list;
}

function isSpaced(state: State, name: string, now: number): boolean {
	const account = accountOf(state, name);
	return account.staggered && account.spaced_until !== null && account.spaced_until > now;
}

/** A session's account is waited for, unless its hold lasts too long beyond now. */
function isWorthWaiting(state: State, name: string, agent: string | undefined, now: number): boolean {
	const account = accountOf(state, name);
	if (account.closed !== null || isLongDown(state, name, agent, now)) return false;
	return account.until === null || account.until - now <= state.config.rate_limit.failover_after_ms;
}

export function chooseAccount(state: State, job: ModelJob, now: number): { account?: string; refusals: Refusal[] } {
	if (job.account !== undefined) return { account: job.account, refusals: accountRefusals(state, job.account, job.agent, now) };
	if (job.prefer !== undefined && isWorthWaiting(state, job.prefer, job.agent, now))
		return { account: job.prefer, refusals: accountRefusals(state, job.prefer, job.agent, now) };
	// One that is not worth waiting for is left for any other of the lane.
	const ofLane = laneOf(state.config, job.lane).accounts;
	const others = ofLane.filter((name) => name !== job.prefer);
	const listed = job.prefer === undefined ? ofLane : others.length > 0 ? others : [job.prefer];
	// An agent without accounts has its program's own.
	const names = listed.length === 0 && job.kind === "agent" && job.agent !== undefined ? [job.agent] : listed;
	if (names.length === 0)
		return {
			refusals: job.kind === "payload" ? accountRefusals(state, "default", job.agent, now).filter(({ gate }) => gate === "holds") : [],
		};
	const all: Refusal[] = [];
	for (const name of names) {
		const refusals = accountRefusals(state, name, job.agent, now);
		if (refusals.length === 0) return { account: name, refusals: [] };
		all.push(...refusals);
	}
	// Its session's account, which it would rather have, keeps it waiting, too.
	if (job.prefer !== undefined && !names.includes(job.prefer))
		all.push(...accountRefusals(state, job.prefer, job.agent, now).filter(({ gate }) => gate === "holds"));
	const isShut = (subject: string | undefined) => all.some((other) => other.gate === "holds" && other.subject === subject);
	// One that is open but full speaks for all: what keeps the others closed need not be said. Nor that a closed one is full, too.
	const full = all.some((refusal) => refusal.gate === "capacity" && !isShut(refusal.subject));
	const isSpare = (refusal: Refusal) => (refusal.gate === "holds" ? full : isShut(refusal.subject));
	return { refusals: all.map((refusal) => (isSpare(refusal) ? { ...refusal, optional: true } : refusal)) };
}

/** A 429, a usage limit or a closed account, seen in a run's ending or reported. */
export function limitAccount(
	state: State,
	name: string,
	report: { until?: number | undefined; retry_after_ms?: number | undefined; closed?: string | undefined },
	now: number,
): void {
	const account = accountOf(state, name);
	if (report.closed !== undefined) {
		account.closed = report.closed;
		return;
	}
	account.hits += 1;
	account.staggered = true;
	account.spaced_until = null;
	const backoff = 1000 * 2 ** Math.min(account.hits, 6);
	const until =
		report.until === undefined ? now + Math.max(report.retry_after_ms ?? 0, backoff) : report.until + state.config.rate_limit.margin_ms;
	const open = account.until !== null && account.until > now;
	if (!open || until >= (account.until ?? 0)) {
		account.until = until;
		account.provider = report.until !== undefined;
	}
}

/** A run on this account ended well. */
export function succeedOn(state: State, name: string, startedAt: number): void {
	const account = accountOf(state, name);
	account.hits = 0;
	// The provider's reset stays, and when it clears, starts are staggered all the same: until one that began after it has succeeded.
	if (account.until !== null && (account.until > state.now ? account.provider : startedAt < account.until)) return;
	account.staggered = false;
	account.until = null;
}

export function clearAccount(state: State, name: string): void {
	state.accounts[name] = freshAccount();
}
