// Outages: a provider that is down. Its account is held, the jobs that met it wait and burn nothing.
//
//   a run ends with an outage …                         the hold                                     the job
//   no hold is open                                     opens: next try in 5 s                       waits
//   the run began before the hold                       stays as it is                               waits
//   the run began behind the hold: it was the probe     next try after twice as long, 5 min at most  waits
//   the job met an outage before that is over by now    opens                                        a retry is burned: its own request may be to blame
//   the hold is older than outage_max                   goes on                                      a retry is burned
//   outage_max is 0                                     none                                         a retry is burned
//
//   a run that began behind the hold …                  the hold
//   starts                                              lets no other one out until it has told something, or for 5 min. It is another job's
//                                                       than the last one, as long as there is another one
//   is answered by the model, or ends well, limited,    ends
//   closed or with a question
//   ends otherwise                                      lets the next one out
//
// A hold belongs to an account and an agent: the programs of one account may talk to different providers.

import type { Config } from "./config.ts";
import { holdKey } from "./world.ts";

export type Outage = {
	kind: "outage";
	scope: string;
	/** Whose provider it is; absent: that of outside workers. */
	agent?: string;
	by: string;
	/** When it began. */
	since: number;
	/** What the provider, or the network, said. */
	reason: string;
	/** The next try; while one is under way, the one after it. */
	until: number;
	/** Tries in a row that failed. */
	hits: number;
	/** The job whose run tries it. */
	probe?: number;
	/** The job that met it last: the next try is another one's, as long as there is another one. */
	probed?: number;
};

const FIRST_MS = 5_000;
export const OUTAGE_CAP_MS = 300_000;
const JITTER = 0.1;
/** For so long the job that tried last steps aside for another one that could go now. */
export const TURN_MS = 1_000;

export const outageKey = (account: string, agent: string | undefined): string =>
	`${holdKey("outage", `account:${account}`)}${agent === undefined ? "" : `/${agent}`}`;

/** How long after the nth failed try the next one is made. `chance` is in [0, 1). */
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
	/** When the last outage began that its job has met. */
	last: number | undefined;
	now: number;
	chance: number;
	config: Pick<Config, "rate_limit">;
};

/** `since`: when the outage began. `hold`: as it is from now on; absent: it stays as it is. */
export type OutageVerdict = { burns: "nothing" | "failure"; since: number; hold?: Pick<Outage, "since" | "until" | "hits"> };

/** What becomes of the account and the job when a run ends with an outage. Not to be asked where `outage_max` is 0. */
export function afterOutage({ hold, startedAt, last, now, chance, config }: MetOutage): OutageVerdict {
	const since = hold?.since ?? now;
	const isOver = last !== undefined && last !== since;
	const isTooLong = now - since > config.rate_limit.outage_max_ms;
	const burns = isOver || isTooLong ? "failure" : "nothing";
	const isNews = hold === undefined || startedAt > hold.since;
	const hits = (hold?.hits ?? 0) + 1;
	return { burns, since, ...(isNews ? { hold: { since, until: now + outageDelayMs(hits, chance), hits } } : {}) };
}
