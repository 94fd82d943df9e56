// Planted bugs in what happens when accounts are limited, providers are down and launches fail.

import type { Op } from "../../src/contracts/store.ts";
import { accountsOf, outagesOf } from "../../src/core/gates/buckets/holds.ts";
import { holdKey } from "../../src/core/limits-view.ts";
import { afterOutage, outageKey } from "../../src/core/outage.ts";
import { afterRun } from "../../src/core/outcome.ts";
import { limitAccount } from "../../src/scheduler/limits/account-holds.ts";
import { isAnothersProbe, launchFailed } from "../../src/scheduler/limits/breakers.ts";
import { accountAnswers, isAnothersTry, noteOutageProbe } from "../../src/scheduler/limits/outages.ts";
import { finish } from "../../src/scheduler/operations/finish.ts";
import { always, type Bug, bugsOf, everywhere, hidden, skipped, skippedOp, within } from "./bug.ts";

export const PROVIDERS: Bug[] = [
	...bugsOf("a limited account rests", {
		"a limited account is used": everywhere(limitAccount, (right) => (tx, account, report) => {
			right(tx, account, report);
			const key = holdKey("rate_limited", `account:${account}`);
			const hold = tx.memory.holds.get(key);
			if (hold?.kind === "rate_limited") tx.put("hold", key, { ...hold, until: tx.now, next_at: tx.now });
		}),
	}),

	...bugsOf("an outage holds the account until one job has tried it", {
		"an outage of the provider burns a retry": everywhere(
			afterRun,
			(right) => (job, ended, config, now, chance, _excused) => right(job, ended, config, now, chance),
		),
		"the hold of an outage never ends": everywhere(accountAnswers, skipped),
		"an outage of one agent holds the others of its account": everywhere(outageKey, (right) => (account) => right(account, undefined)),
		"all jobs at once try a provider that was down": everywhere(noteOutageProbe, (right) => (tx, job, account) => {
			const key = outageKey(account, job.agent);
			const before = tx.memory.holds.get(key);
			const isProbe = right(tx, job, account);
			if (isProbe && before?.kind === "outage") tx.put("hold", key, { ...before, probe: job.id });
			return isProbe;
		}),
		"a job whose own request fails tries for ever": everywhere(afterOutage, (right) => (met) => right({ ...met, last: undefined })),
		"an outage is waited for without end": everywhere(afterOutage, (right) => (met) => {
			const { rate_limit } = met.config;
			return right({ ...met, config: { rate_limit: { ...rate_limit, outage_max_ms: Number.POSITIVE_INFINITY } } });
		}),
		"every run in flight lengthens an outage": everywhere(
			afterOutage,
			(right) => (met) => right({ ...met, startedAt: Number.POSITIVE_INFINITY }),
		),
		"one job keeps an account shut whose provider is back": everywhere(isAnothersTry, always(false)),
		"a session waits for an account whose provider stays down": within(accountsOf, outagesOf, always([])),
	}),

	...bugsOf("launches that fail for a shared reason open a breaker", {
		"a breaker refunds no job": everywhere(hidden<() => Op<void>>("refund"), skippedOp),
		"a job's own fault opens a breaker": everywhere(
			finish,
			(right) =>
				(tx, { fault: _, ...told }, decided) =>
					right(tx, told, decided),
		),
		"a probe that failed is refunded": everywhere(
			launchFailed,
			(right) =>
				function* (tx, job, reason) {
					const wasProbe = [...tx.memory.holds.values()].some((hold) => hold.kind === "breaker_open" && hold.probe === job.id);
					return (yield* right(tx, job, reason)) || wasProbe;
				},
		),
		"a probe goes to the same job again": everywhere(isAnothersProbe, always(false)),
	}),
];
