// Planted bugs in what an end of a run makes of its job: fences, retries, verdicts, results, cancels, answers, reruns.

import type { CancelReport } from "../../src/contracts/scheduler.ts";
import { drop, EXIT_KINDS, type Job } from "../../src/core/job.ts";
import { afterRun, exitKindOf } from "../../src/core/outcome.ts";
import { policyOf, retryDelayMs } from "../../src/core/runs/retry.ts";
import { carriedOver, withVerdict } from "../../src/core/runs/verdict.ts";
import { cancel } from "../../src/scheduler/operations/cancel/cancel.ts";
import { cancelMany } from "../../src/scheduler/operations/cancel/cancel-many.ts";
import { answer } from "../../src/scheduler/operations/control.ts";
import type { Core } from "../../src/scheduler/operations/core.ts";
import { finish } from "../../src/scheduler/operations/finish.ts";
import { sayVerdict } from "../../src/scheduler/operations/verdicts.ts";
import { runningJob } from "../../src/scheduler/transaction/find-job.ts";
import type { Tx } from "../../src/scheduler/transaction/tx.ts";
import { type Bug, bugsOf, everywhere, hidden, type Wrong, within } from "./bug.ts";

type Granted = NonNullable<Job["granted"]>;
type RunRef = { job: number; token: number };

/** A run with an old token is taken for the present one, where the present one is such a run. */
const unfenced =
	(isTaken: (job: Job) => boolean): Wrong<typeof runningJob> =>
	(right) =>
		function* (tx: Tx, run: RunRef) {
			const job = tx.peek(run.job) ?? (yield* tx.find(run.job));
			return yield* right(tx, job?.run && isTaken(job) ? { ...run, token: job.run.token } : run);
		};

/** A rerun keeps this field of the job. */
const keeps = (kept: keyof Job) =>
	within(
		hidden("reset"),
		drop,
		(right) => (job, fields) =>
			right(
				job,
				fields.filter((field) => field !== kept),
			),
	);

type How = Parameters<typeof cancelMany>[2];
const inSlices = hidden<(core: Core, ids: readonly number[], how: How, begun: () => void) => Promise<CancelReport>>("inSlices", {
	beside: cancelMany,
});

const together = hidden<(before: Granted | undefined, more: Granted) => Granted | undefined>("together");

export const ENDS: Bug[] = [
	...bugsOf("only the present run speaks for its job", {
		"a missing fence": everywhere(
			runningJob,
			unfenced(() => true),
		),
		"a run that has been overtaken speaks for its job": within(
			sayVerdict,
			runningJob,
			unfenced(() => true),
		),
	}),
	...bugsOf(
		"only the present run speaks for its job",
		{
			"the end of a lost run is taken": everywhere(
				runningJob,
				unfenced(({ run }) => (run?.attempt ?? 0) > 1),
			),
		},
		{ fleet: true },
	),

	...bugsOf("a job is retried as its policy says", {
		"one retry too many": everywhere(policyOf, (right) => (job, config) => {
			const policy = right(job, config);
			return { ...policy, max: policy.max + 1 };
		}),
		"retries of kinds that the policy leaves out": everywhere(policyOf, (right) => (job, config) => ({
			...right(job, config),
			on: [...EXIT_KINDS],
		})),
		"back-off without its jitter bound": everywhere(
			retryDelayMs,
			(right) => (policy, n, chance) => right({ ...policy, jitter: 3 * policy.jitter }, n, chance),
		),
		"the dispatch breaker trips late": everywhere(afterRun, (right) => (job, ended, config, ...rest) => {
			const { dispatch_breaker: most } = config;
			return right(job, ended, { ...config, dispatch_breaker: typeof most === "number" ? most + 1 : most }, ...rest);
		}),
		"a rate limit burns a retry": everywhere(afterRun, (right) => (...run) => {
			const next = right(...run);
			return next.to === "wait" && next.exit_kind === "rate_limited" ? { ...next, burns: "failure" as const } : next;
		}),
		"a rerun keeps the count of failures": keeps("failures"),
	}),

	...bugsOf("what a run says of itself counts beside its exit", {
		"ok beats a failure": everywhere(
			withVerdict,
			(right) => (ended, said) =>
				said?.verdict === "ok" && ["failed", "crashed"].includes(ended.exit_kind)
					? { ...ended, exit_kind: "completed" as const }
					: right(ended, said),
		),
		"ok settles no question": everywhere(withVerdict, (right) => (ended, said) => (said?.verdict === "ok" ? ended : right(ended, said))),
		"a run's no is ignored": everywhere(withVerdict, (right) => (ended, said) => (said?.verdict === "fail" ? ended : right(ended, said))),
		"a run's question is ignored": everywhere(
			withVerdict,
			(right) => (ended, said) => (said?.verdict === "ask" ? ended : right(ended, said)),
		),
		"a verdict beats a limit": everywhere(
			withVerdict,
			(right) => (ended, said) =>
				said && said.verdict !== "ok" && ended.exit_kind === "rate_limited"
					? right({ ...ended, exit_kind: "failed" as const }, said)
					: right(ended, said),
		),
		"a run's no is retried by a policy": everywhere(afterRun, (right) => (job, ...rest) => {
			const { verdict: _, ...silent } = job.run ?? {};
			const next = right({ ...job, run: silent } as Job, ...rest);
			return next.to === "wait" ? next : right(job, ...rest);
		}),
	}),

	...bugsOf("a verdict and a result last as long as the session they were said in", {
		"the verdict of an older attempt counts": everywhere(carriedOver, (right) => (job) => ({
			...right(job),
			...(job.verdict && job.session !== undefined ? { verdict: job.verdict } : {}),
		})),
		"what a run said is forgotten with a limit": everywhere(carriedOver, (right) => (job) => {
			const { verdict: _, ...rest } = right(job);
			return rest;
		}),
		"a result is lost at the end": everywhere(
			finish,
			(right) =>
				function* (tx, told, decided) {
					const job = yield* runningJob(tx, told);
					job.result = undefined;
					return yield* right(tx, told, decided);
				},
		),
		"the result of a failed attempt stays": everywhere(carriedOver, (right) => (job) => ({
			...right(job),
			...(job.result === undefined ? {} : { result: job.result }),
		})),
		"a result is lost when a crashed run's session goes on": everywhere(
			carriedOver,
			(right) =>
				({ goes_on: _, ...job }) =>
					right(job),
		),
	}),

	...bugsOf("a cancel ends what it names", {
		"a cancel intent is forgotten": everywhere(exitKindOf, () => (_job, ended) => ended.exit_kind),
		"a cancel of many jobs forgets those that one transaction cannot end": everywhere(
			cancel,
			(right) =>
				function* (tx, ids, what) {
					const report = yield* right(tx, ids, what);
					if (report !== "too many" && report.note !== undefined) tx.put("settle", report.note, null);
					return report;
				},
		),
		"a cancel of very many jobs begins the second half after the first": everywhere(inSlices, (right) => async (core, ids, how, begun) => {
			const half = Math.ceil(ids.length / 2);
			const [first, second] = [await right(core, ids.slice(0, half), how, () => {}), await right(core, ids.slice(half), how, begun)];
			return {
				cancelled: [...first.cancelled, ...second.cancelled],
				requested: [...first.requested, ...second.requested],
				ended: [...first.ended, ...second.ended],
				refused: [...first.refused, ...second.refused],
			};
		}),
	}),

	...bugsOf("a grant counts until the job is begun anew, a denial until its next run", {
		"an answer drops the grant that came with it": within(answer, together, () => (before) => before),
		"an answer takes an earlier grant away": within(answer, together, () => (_before, grant) => grant),
		"a rerun keeps a grant": keeps("granted"),
		"what an earlier run was denied is said of the last one": everywhere(
			finish,
			(right) =>
				(tx, { denied, ...told }, decided) =>
					right(tx, denied === undefined || denied.length === 0 ? told : { ...told, denied }, decided),
		),
	}),
];
