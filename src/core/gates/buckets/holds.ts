// Gate `holds`: nothing that concerns the job is paused, its lane is within its active hours, an account is open, no breaker is open.

import type { Bucket } from "../../bucket.ts";
import { laneOf } from "../../config.ts";
import { given } from "../../given.ts";
import { type Hold, holdKey, type LimitsView } from "../../limits-view.ts";
import { type Outage, outageKey } from "../../outage.ts";
import { inWords, type Reason } from "../../reason.ts";
import { outsideHours } from "../../time/window.ts";
import { type BucketGate, pass, refuse } from "../gate.ts";
import { stamp } from "../time.ts";

const sinceAndHolder = (hold: Hold) => ({ since: hold.since, holder: [hold.by] });

export function pausedReason(scope: string, world: LimitsView): Reason | undefined {
	const hold = world.holds.get(holdKey("paused", scope));
	if (hold?.kind !== "paused" || (hold.until !== undefined && hold.until <= world.now)) return undefined;
	const what = scope === "all" ? "everything" : inWords(scope);
	const detail = `${what} paused by ${hold.by}${hold.reason ? `: ${hold.reason}` : ""}`;
	return refuse("holds", "paused", scope, detail, { ...sinceAndHolder(hold), ...given({ clears_at: hold.until }) });
}

/** While the provider of an account and agent is down, one run at a time probes it. */
function outageReason(hold: Hold | undefined, account: string, world: LimitsView): Reason | undefined {
	if (hold?.kind !== "outage" || hold.until <= world.now || world.config.rate_limit.outage_max_ms === 0) return undefined;
	const whose = hold.agent === undefined || hold.agent === account ? "" : ` for agent ${hold.agent}`;
	const next = hold.probe === undefined ? `next try at ${stamp(hold.until)}` : `job ${hold.probe} is trying it`;
	const detail = `account ${account}${whose}: the provider is down (outage) since ${stamp(hold.since)}; ${next}`;
	const more = hold.probe === undefined ? { clears_at: hold.until } : { holder: [`job:${hold.probe}`] };
	return refuse("holds", "outage", `account:${account}`, detail, { since: hold.since, ...more });
}

/** The outages of an account: for all its agents, or for one. */
export function outagesOf(account: string, agent: string | undefined | "all", { holds }: Pick<LimitsView, "holds">): Outage[] {
	if (agent !== "all") {
		const hold = holds.get(outageKey(account, agent));
		return hold?.kind === "outage" ? [hold] : [];
	}
	return [...holds.values()].flatMap((hold) => (hold.kind === "outage" && hold.scope === `account:${account}` ? [hold] : []));
}

/** Why no run may start on this account now, by this agent or by any; empty if it is open. */
export function accountReasons(account: string, agent: string | undefined | "all", world: LimitsView): Reason[] {
	const scope = `account:${account}`;
	const reasons: Reason[] = [];
	const paused = pausedReason(scope, world);
	if (paused) reasons.push(paused);
	const closed = world.holds.get(holdKey("account_closed", scope));
	if (closed)
		reasons.push(refuse("holds", "account_closed", scope, `account ${account} is closed: ${closed.reason}`, sinceAndHolder(closed)));
	const limited = world.holds.get(holdKey("rate_limited", scope));
	if (limited?.kind === "rate_limited") {
		if (limited.until > world.now) {
			const detail = `account ${account} is limited until ${stamp(limited.until)}: ${limited.reason}`;
			reasons.push(refuse("holds", "rate_limited", scope, detail, { ...sinceAndHolder(limited), clears_at: limited.until }));
		} else if (limited.next_at > world.now) {
			const detail = `account ${account} comes back from a limit; next start at ${stamp(limited.next_at)}`;
			reasons.push(refuse("holds", "rate_limited", scope, detail, { ...sinceAndHolder(limited), clears_at: limited.next_at }));
		}
	}
	for (const hold of outagesOf(account, agent, world)) {
		const down = outageReason(hold, account, world);
		if (down) reasons.push(down);
	}
	return reasons;
}

/** An open breaker lets one probe start after its cool-down, and no other until the outcome of that probe is known. */
export function breakerReason(scope: string, world: LimitsView): Reason | undefined {
	const hold = world.holds.get(holdKey("breaker_open", scope));
	// A breaker that is switched off holds nothing, but keeps its state.
	if (hold?.kind !== "breaker_open" || world.config.environment_breaker.failures === 0) return undefined;
	if (hold.until > world.now) {
		const detail = `launches of ${inWords(scope)} keep failing (${hold.reason}); next probe at ${stamp(hold.until)}`;
		return refuse("holds", "breaker_open", scope, detail, { ...sinceAndHolder(hold), clears_at: hold.until });
	}
	if (hold.probe === undefined) return undefined;
	return refuse("holds", "breaker_open", scope, `job ${hold.probe} is probing ${inWords(scope)}`, {
		...sinceAndHolder(hold),
		holder: [`job:${hold.probe}`],
	});
}

/** The account name for outside workers that name none. */
const NAMELESS = "default";

/** Whose quota a run uses: its account's. Outside workers that name no account share one quota; commands use none. */
export const quotaOf = (kind: Bucket["kind"], account: string | undefined): string | undefined =>
	account ?? (kind === "payload" ? NAMELESS : undefined);

/** Why no run may start with this account; empty if one may. */
const quotaReasons = (bucket: Bucket, account: string | undefined, world: LimitsView): Reason[] => {
	const quota = quotaOf(bucket.kind, account);
	return quota === undefined || world.holds.size === 0 ? [] : accountReasons(quota, bucket.agent, world);
};

/** Whether holds allow a run on this account. */
export const isOpen = (bucket: Bucket, account: string | undefined, world: LimitsView): boolean =>
	quotaReasons(bucket, account, world).length === 0;

/**
 * The accounts that a job of this bucket may run on, best first; [undefined] if it needs none. An agent without configured accounts uses the login of its
 * program, as an account with the agent's name.
 */
export function accountsOf(bucket: Bucket, world: LimitsView): (string | undefined)[] {
	if (bucket.account !== undefined) return [bucket.account];
	const listed = laneOf(world.config, bucket.lane).accounts;
	if (bucket.prefer !== undefined) {
		const limited = world.holds.get(holdKey("rate_limited", `account:${bucket.prefer}`));
		const away = limited?.kind === "rate_limited" ? limited.until - world.now : 0;
		const closed = world.holds.has(holdKey("account_closed", `account:${bucket.prefer}`));
		// No provider says when its outage ends: the estimate is that it lasts as long again as it has lasted.
		const [outage] = outagesOf(bucket.prefer, bucket.agent, world);
		const down = outage && world.config.rate_limit.outage_max_ms > 0 ? world.now - outage.since : 0;
		if (Math.max(away, down) <= world.config.rate_limit.failover_after_ms && !closed) return [bucket.prefer];
		const others = listed.filter((name) => name !== bucket.prefer);
		return others.length > 0 ? others : [bucket.prefer];
	}
	return listed.length > 0 ? listed : [bucket.kind === "agent" ? bucket.agent : undefined];
}

export const holds: BucketGate = {
	name: "holds",
	ask(bucket, world) {
		const { active_hours } = laneOf(world.config, bucket.lane);
		// Fast path, because every start asks this gate: mostly nothing is held.
		if (world.holds.size === 0 && active_hours.length === 0) return pass;
		const reasons: Reason[] = [];
		for (const scope of ["all", `lane:${bucket.lane}`, ...(bucket.repo === undefined ? [] : [`repo:${bucket.repo}`])]) {
			const paused = pausedReason(scope, world);
			if (paused) reasons.push(paused);
		}
		if (active_hours.length > 0) {
			const opens = outsideHours(active_hours, world.now, world.config.timezone);
			if (opens !== null) {
				const detail = `lane ${bucket.lane} starts jobs only in ${active_hours.join(", ")} (${world.config.timezone})`;
				reasons.push(refuse("holds", "quiet_hours", `lane:${bucket.lane}`, detail, { clears_at: opens }));
			}
		}
		if (bucket.agent !== undefined || bucket.repo !== undefined)
			for (const scope of [
				...(bucket.agent === undefined ? [] : [`agent:${bucket.agent}`]),
				...(bucket.repo === undefined ? [] : [`repo:${bucket.repo}`]),
			]) {
				const open = breakerReason(scope, world);
				if (open) reasons.push(open);
			}
		const accounts = accountsOf(bucket, world);
		const shut = accounts.map((name) => quotaReasons(bucket, name, world));
		if (shut.every((list) => list.length > 0)) {
			// The account of the job's session is preferred, so the job also waits for that one.
			if (bucket.prefer !== undefined && !accounts.includes(bucket.prefer))
				reasons.push(...accountReasons(bucket.prefer, bucket.agent, world));
			reasons.push(...shut.flat());
		}
		return reasons.length > 0 ? reasons : pass;
	},
};
