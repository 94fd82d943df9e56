// Holds on accounts: sets them when a provider reports a limit, and ends them. Breakers are in breakers.ts, money in budgets.ts.

import { MAX_TIME } from "../../core/input/check.ts";
import { holdKey } from "../../core/limits-view.ts";
import { limitDelayMs } from "../../core/runs/retry.ts";
import type { Tx } from "../transaction/tx.ts";

export type LimitReport = {
	until?: number | undefined;
	until_assumed?: string | undefined;
	retry_after_ms?: number | undefined;
	closed?: string | undefined;
};

export function limitAccount(tx: Tx, account: string, report: LimitReport): void {
	const scope = `account:${account}`;
	if (report.closed !== undefined) {
		tx.put("hold", holdKey("account_closed", scope), { kind: "account_closed", scope, by: tx.by, since: tx.now, reason: report.closed });
		tx.event("account_closed", null, { account, reason: report.closed });
		return;
	}
	const key = holdKey("rate_limited", scope);
	const before = tx.memory.holds.get(key);
	const known = before?.kind === "rate_limited" ? before : undefined;
	const hits = (known?.hits ?? 0) + 1;
	const reset = report.until !== undefined;
	const wanted =
		report.until !== undefined ? report.until + tx.config.rate_limit.margin_ms : tx.now + limitDelayMs(hits, report.retry_after_ms);
	const until = Math.min(MAX_TIME, Math.max(wanted, known?.until ?? 0));
	const isLonger = known !== undefined && until !== Math.min(MAX_TIME, wanted);
	tx.put("hold", key, {
		kind: "rate_limited",
		scope,
		by: tx.by,
		since: tx.now,
		reason: isLonger ? known.reason : wordsOf(report, hits),
		until,
		hits,
		reset: isLonger ? known.reset : reset,
		next_at: until,
	});
	tx.event("limited", null, { account, until, hits });
}

/** The reason of the hold, which says whether the provider named its end or we assumed it. */
function wordsOf({ until, until_assumed, retry_after_ms }: LimitReport, hits: number): string {
	if (until !== undefined && until_assumed !== undefined) return `usage limit; the provider named no reset, so ${until_assumed} is assumed`;
	if (until !== undefined) return "usage limit; the provider named the reset";
	const asked = retry_after_ms !== undefined && retry_after_ms === limitDelayMs(hits, retry_after_ms);
	if (asked) return `rate limit, ${hits} in a row; the provider asked to wait for ${retry_after_ms / 1000} s`;
	return `rate limit, ${hits} in a row; the wait doubles with each, up to ${limitDelayMs(Number.MAX_SAFE_INTEGER, 0) / 1000} s`;
}

/**
 * A run succeeded on the account: the count of limits is reset and a back-off ends; a reset time that the provider named stays. A run that began before the
 * limit ended says nothing about the time after it, so starts stay spaced.
 */
export function accountWorks(tx: Tx, account: string, startedAt: number): void {
	const key = holdKey("rate_limited", `account:${account}`);
	const hold = tx.memory.holds.get(key);
	if (hold?.kind !== "rate_limited") return;
	if (hold.until > tx.now ? hold.reset : startedAt < hold.until) {
		tx.put("hold", key, { ...hold, hits: 0 });
		return;
	}
	tx.put("hold", key, null);
	tx.event("limit_over", null, { account });
	tx.stirred = true;
}
