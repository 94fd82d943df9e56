// Outages: a provider is down. Its account is held; the jobs that met the outage wait without using up a retry.
//
//   a run ends with an outage …                         the hold                                     the job
//   no hold is open                                     opens: next try in 5 s                       waits
//   the run began before the hold                       stays as it is                               waits
//   the run began during the hold: it was the probe     next try after twice as long, 5 min at most  waits
//   the job met an earlier outage that is over          opens                                        uses a retry: its own request may be to blame
//   the hold is older than outage_max                   continues                                    uses a retry
//   outage_max is 0                                     none                                         uses a retry
//
//   a run that began during the hold …                  the hold
//   starts                                              allows no other probe until this one has reported something, or for 5 min. The probe is
//                                                       a different job's run than the last probe if there is one
//   is answered by the model, or ends well, limited,    ends
//   closed or with a question
//   ends otherwise                                      allows the next probe
//
// A hold belongs to an account and an agent: the programs of one account may talk to different providers.

import type { Config } from "./config.ts";
import { holdKey } from "./limits-view.ts";

export type Outage = {
	kind: "outage";
	scope: string;
	/** The agent whose provider is down; absent: that of outside workers. */
	agent?: string;
	by: string;
	/** When the outage began. */
	since: number;
	/** The message of the provider or the network. */
	reason: string;
	/** The next try; while one is under way, the try after it. */
	until: number;
	/** Number of consecutive failed tries. */
	hits: number;
	/** The job whose run probes the provider. */
	probe?: number;
	/** The job that probed last: another job probes next, if there is one. */
	probed?: number;
};

const FIRST_MS = 5_000;
export const OUTAGE_CAP_MS = 300_000;
const JITTER = 0.1;
/** How long the job that probed last gives way to another job that could start now. */
export const TURN_MS = 1_000;

export const outageKey = (account: string, agent: string | undefined): string =>
	`${holdKey("outage", `account:${account}`)}${agent === undefined ? "" : `/${agent}`}`;

/** How long after the nth failed try the next one follows. `chance` is in [0, 1). */
export const outageDelayMs = (hits: number, chance: number): number =>
	Math.round(Math.min(OUTAGE_CAP_MS, FIRST_MS * 2 ** Math.min(hits - 1, 20)) * (1 + JITTER * (2 * chance - 1)));

/** `the provider is down (outage): 529 Overloaded; 3 tries in a row` */
export function outageWords({ reason, hits, agent, scope }: Pick<Outage, "reason" | "hits" | "agent" | "scope">): string {
	const whose = agent === undefined || scope === `account:${agent}` ? "" : ` of ${agent}`;
	return `the provider${whose} is down (outage): ${reason.replace(/^transient: /, "")}${hits > 1 ? `; ${hits} tries in a row` : ""}`;
}

export type MetOutage = {
	hold: Pick<Outage, "since" | "until" | "hits"> | undefined;
	/** When the run began. */
	startedAt: number;
	/** When the last outage that the job met began. */
	last: number | undefined;
	now: number;
	chance: number;
	config: Pick<Config, "rate_limit">;
};

/** `since`: when the outage began. `hold`: its new state; absent: unchanged. */
export type OutageVerdict = { burns: "nothing" | "failure"; since: number; hold?: Pick<Outage, "since" | "until" | "hits"> };

/** What becomes of the account and the job when a run ends with an outage. Must not be called if `outage_max` is 0. */
export function afterOutage({ hold, startedAt, last, now, chance, config }: MetOutage): OutageVerdict {
	const since = hold?.since ?? now;
	const isOver = last !== undefined && last !== since;
	const isTooLong = now - since > config.rate_limit.outage_max_ms;
	const burns = isOver || isTooLong ? "failure" : "nothing";
	const isNewEvidence = hold === undefined || startedAt > hold.since;
	const hits = (hold?.hits ?? 0) + 1;
	return { burns, since, ...(isNewEvidence ? { hold: { since, until: now + outageDelayMs(hits, chance), hits } } : {}) };
}
