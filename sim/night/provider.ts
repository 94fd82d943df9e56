// A provider that gives out quota and keeps to it: an hourly window and a weekly limit for each account, on a clock of its own that may be off.

export type AccountPlan = {
	name: string;
	/** Tokens in each window of an hour. */
	hourly: number;
	/** Tokens that are left of this week. */
	weekly: number;
	/** Windows begin so long after the full hour. */
	offsetMs: number;
	/** How far its clock is ahead of ours. */
	skewMs: number;
};
export type Reply = { ok: true } | { ok: false; kind: "limited"; until: number } | { ok: false; kind: "throttled"; retryAfterMs: number };

export const HOUR = 3_600_000;
const WEEK = 7 * 24 * HOUR;

type Account = AccountPlan & { window: number; usedInWindow: number; used: number; weekEnds: number };

export class Provider {
	private readonly accounts = new Map<string, Account>();

	constructor(
		plans: readonly AccountPlan[],
		start: number,
		private readonly throttles: () => boolean,
	) {
		for (const plan of plans) this.accounts.set(plan.name, { ...plan, window: 0, usedInWindow: 0, used: 0, weekEnds: start + WEEK });
	}

	/** One call. What it would use must fit whole, else it is refused with the time of the reset, as the provider's clock has it. */
	call(name: string, tokens: number, ourNow: number): Reply {
		const account = this.at(name, ourNow);
		if (account.used + tokens > account.weekly) return { ok: false, kind: "limited", until: account.weekEnds };
		if (account.usedInWindow + tokens > account.hourly)
			return { ok: false, kind: "limited", until: account.window * HOUR + account.offsetMs + HOUR };
		if (this.throttles()) return { ok: false, kind: "throttled", retryAfterMs: 20_000 };
		account.usedInWindow += tokens;
		account.used += tokens;
		return { ok: true };
	}

	/** Whether even a small call would be refused. */
	isShut(name: string, tokens: number, ourNow: number): boolean {
		const { used, weekly, usedInWindow, hourly } = this.at(name, ourNow);
		return used + tokens > weekly || usedInWindow + tokens > hourly;
	}

	used(name: string): number {
		return this.accounts.get(name)?.used ?? 0;
	}

	private at(name: string, ourNow: number): Account {
		const account = this.accounts.get(name);
		if (!account) throw new Error(`no account ${name}`);
		const window = Math.floor((ourNow + account.skewMs - account.offsetMs) / HOUR);
		if (window !== account.window) {
			account.window = window;
			account.usedInWindow = 0;
		}
		return account;
	}
}

/** What an account may use between two moments, by windows; of one that is cut off, what `perMs` could use in the rest. Never more than the week has. */
export function allowed({ hourly, weekly, offsetMs, skewMs }: AccountPlan, from: number, to: number, perMs: number): number {
	const shift = offsetMs - skewMs;
	let sum = 0;
	for (let start = Math.floor((from - shift) / HOUR) * HOUR + shift; start < to; start += HOUR)
		sum += Math.min(hourly, perMs * (Math.min(start + HOUR, to) - Math.max(start, from)));
	return Math.min(weekly, Math.floor(sum));
}
