// Reads what a forecast needs: the active jobs with what they wait for, the caps, and how long recent runs took. Reads in pieces and changes nothing.

import type { Clock, Host } from "../../contracts/host.ts";
import type { ForecastOptions } from "../../contracts/scheduler.ts";
import { ask, type Op } from "../../contracts/store.ts";
import { bucketOf } from "../../core/bucket.ts";
import { type Config, isDirect, laneOf } from "../../core/config.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import type { Sample } from "../../core/forecast/durations.ts";
import { type Forecast, forecast, type Queue, type QueuedJob } from "../../core/forecast/forecast.ts";
import { footprint } from "../../core/gates/buckets/capacity.ts";
import { noFacts } from "../../core/gates/gate.ts";
import { allReasons } from "../../core/gates/index.ts";
import * as check from "../../core/input/check.ts";
import { draftJob } from "../../core/input/job.ts";
import { isTerminal, type Job, type JobInput } from "../../core/job.ts";
import { ageAt, levelOf, priorityAt } from "../../core/order.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import type { Core } from "../operations/core.ts";
import { jobNamed } from "../operations/names.ts";
import { awaitedBy } from "../operations/waits.ts";
import { reading } from "../transaction/pending.ts";
import type { Tx } from "../transaction/tx.ts";
import { factsOf, makersOf } from "../waiting/gate-facts.ts";
import { FOR_WORKERS } from "./jobs.ts";

const PIECE = 200;
/** Most active jobs that are simulated, and past runs that are read. */
const MOST = 20_000;
const PAST = 2000;
/** After this long, other work of the process gets a turn of the event loop. */
const TURN_MS = 15;

type Parts = { core: Core; config: () => Config; clock: Clock; host: Pick<Host, "turn"> };

export async function makeForecast(parts: Parts, options: ForecastOptions): Promise<Forecast> {
	const config = whatIf(parts.config(), options);
	const also = options.also === undefined ? null : await imagined(parts, config, options.also);
	const [jobs, samples] = [await readJobs(parts, config, also), await readSamples(parts)];
	for (const job of jobs) if (options.frozen?.includes(job.id)) job.stuck = "it is frozen until it is resumed or thawed";
	const { now, last_cycle_at } = await parts.core.look(reading((tx) => ({ now: tx.now, last_cycle_at: tx.getPace().last_cycle_at })));
	const steps = forecast({ now, jobs, samples, ...limitsOf(config, last_cycle_at) });
	for (let began = parts.clock.monotonic(); ; ) {
		const step = steps.next();
		if (step.done) return options.batch === undefined ? step.value : ofBatch(step.value, options.batch);
		if (parts.clock.monotonic() - began < TURN_MS) continue;
		await parts.host.turn();
		began = parts.clock.monotonic();
	}
}

/** The whole queue is simulated even for one batch, because other jobs take slots, too. */
const ofBatch = (whole: Forecast, batch: string): Forecast => {
	const batches = whole.batches.filter(({ name }) => name === batch);
	return { ...whole, jobs: whole.jobs.filter((job) => job.batch === batch), batches, end: batches[0]?.end ?? null };
};

function whatIf(config: Config, { max_concurrent, lanes = {} }: ForecastOptions): Config {
	const changed = { ...config.lanes };
	for (const [name, max] of Object.entries(lanes)) {
		if (!Object.hasOwn(changed, name))
			throw new SluiceError("not_found", `lanes.${name}: there is no such lane`, { field: `lanes.${name}` });
		changed[name] = { ...laneOf(config, name), max: max === null ? null : check.integer(max, `lanes.${name}`, 0, 1_000_000) };
	}
	return { ...config, lanes: changed, ...(max_concurrent === undefined ? {} : { max_concurrent }) };
}

function limitsOf(config: Config, lastCycle: number): Pick<Queue, "caps" | "cycle" | "spacing"> {
	const caps: Record<string, number> = {};
	const limit = (name: string, max: number | null | undefined) => {
		if (max !== null && max !== undefined) caps[name] = Math.min(max, caps[name] ?? Number.POSITIVE_INFINITY);
	};
	if (!isDirect(config)) limit("all", config.max_concurrent);
	if (config.safety_cap > 0) limit("all", config.safety_cap);
	for (const [name, lane] of Object.entries(config.lanes)) limit(`lane:${name}`, lane.max);
	for (const [name, repo] of Object.entries(config.repos)) limit(`repo:${name}`, repo.max);
	for (const [name, account] of Object.entries(config.accounts)) limit(`account:${name}`, account.max);
	for (const [name, amount] of Object.entries(config.resources)) limit(`resource:${name}`, amount);
	if (isDirect(config)) return { caps, cycle: { every: 0, next_at: 0, most: 0 }, spacing: 0 };
	const every = config.cycle_interval_ms;
	return { caps, cycle: { every, next_at: lastCycle + every, most: config.batch_size }, spacing: config.spawn_delay_ms };
}

type Ranked = { job: QueuedJob; rank: number; priority: number; age_at: number };

/** A job that is not stored, where it would be in the queue. What only a host could tell about it is left out. */
async function imagined({ core, clock }: Parts, config: Config, input: JobInput): Promise<Ranked> {
	const draft = draftJob(input, config, { now: clock.now(), force: false });
	const { job, spec } = draft;
	return core.look(function* (tx) {
		const entry = entryOf(job, spec.recipe ?? null, accountOf(job, tx.config));
		for (const { ref, policy } of draft.after) {
			const id = typeof ref === "number" ? ref : yield* jobNamed(tx, ref);
			const before = id === null ? null : yield* tx.find(id);
			if (!before || isTerminal(before.status)) continue;
			if (policy === "failure") entry.stuck ??= `runs only if job ${before.id} fails`;
			else entry.after.push(before.id);
		}
		hold(entry, allReasons(job, bucketOf(job, 0), noFacts(tx.now), tx.world()), new Set());
		const age_at = ageAt(job, config);
		return {
			job: entry,
			rank: 0,
			priority: priorityAt(laneOf(config, job.lane).priority, levelOf(job, config), age_at, tx.now, config),
			age_at,
		};
	});
}

async function readJobs({ core }: Parts, config: Config, also: Ranked | null): Promise<QueuedJob[]> {
	/** Jobs that only a worker starts; while none of them runs, no worker is known to exist. */
	const forWorkers: QueuedJob[] = [];
	let isWorked = false;
	const found: Ranked[] = also ? [also] : [];
	for (let after = 0; ; ) {
		const from = after;
		const some = await core.look(function* (tx) {
			const jobs: Job[] = yield* ask({ read: "active", filter: {}, after: from, limit: PIECE });
			const ours = jobs.filter((job) => queuePolicy(job.kind).isListed && !tx.isComing(job.id));
			const specs = yield* tx.specs(ours.map((job) => job.id));
			const entries: Ranked[] = [];
			for (const job of ours) {
				const age_at = ageAt(job, config);
				const priority = priorityAt(laneOf(config, job.lane).priority, levelOf(job, config), age_at, tx.now, config);
				const entry = yield* queued(tx, job, specs.get(job.id)?.recipe ?? null);
				entries.push({ job: entry, rank: job.rank ?? 0, priority, age_at });
				if (job.kind !== "payload") continue;
				if (job.run) isWorked = true;
				else forWorkers.push(entry);
			}
			return { entries, last: jobs.length < PIECE ? null : nth(jobs, -1).id };
		});
		found.push(...some.entries);
		if (found.length > MOST)
			throw new SluiceError("limit", `more than ${MOST} jobs wait: too many to play forward`, { hint: "status and list tell how many" });
		if (some.last === null) break;
		after = some.last;
	}
	if (!isWorked) for (const entry of forWorkers) entry.stuck ??= FOR_WORKERS;
	found.sort(
		(a, b) =>
			b.rank - a.rank ||
			b.priority - a.priority ||
			a.age_at - b.age_at ||
			(a.job.id || Number.POSITIVE_INFINITY) - (b.job.id || Number.POSITIVE_INFINITY),
	);
	return found.map(({ job }) => job);
}

const accountOf = (job: Job, config: Config): string | undefined =>
	job.run?.account ?? job.account ?? laneOf(config, job.lane).accounts[0] ?? (job.kind === "agent" ? job.agent : undefined);

const entryOf = (job: Job, recipe: string | null, account: string | undefined): QueuedJob => ({
	id: job.id,
	name: job.name ?? null,
	status: job.status,
	lane: job.lane,
	batch: job.batch ?? null,
	recipe,
	after: [],
	earliest: 0,
	started_at: job.run?.started_at ?? null,
	locks: (job.locks ?? []).map((lock) => ({ ...lock })),
	takes: Object.fromEntries(footprint(job, account, undefined)),
	stuck: null,
});

/** Puts off the start of a job by what its gates say. `coming`: artifacts that a job of the simulation makes. */
function hold(entry: QueuedJob, reasons: ReturnType<typeof allReasons>, coming: ReadonlySet<string>): void {
	for (const { gate, subject, detail, clears_at } of reasons) {
		// The simulation covers these gates: what they wait for ends in it.
		if (gate === "after" || gate === "locks" || gate === "capacity" || gate === "deadline") continue;
		if (gate === "artifacts" && coming.has(subject)) continue;
		if (clears_at === undefined) entry.stuck ??= detail;
		else entry.earliest = Math.max(entry.earliest, clears_at);
	}
}

function* queued(tx: Tx, job: Job, recipe: string | null): Op<QueuedJob> {
	const entry = entryOf(job, recipe, accountOf(job, tx.config));
	if (job.run) {
		entry.after.push(...(awaitedBy(tx, job.id) ?? []));
		return entry;
	}
	const facts = yield* factsOf(tx, job, "all");
	for (const { job: pred, policy, status, merge_status } of facts.after) {
		if (typeof status !== "string" || status === "missing") continue;
		if (policy === "failure" && !isTerminal(status)) entry.stuck ??= `runs only if job ${pred} fails`;
		else if (!isTerminal(status)) entry.after.push(pred);
		else if (policy === "merged" && merge_status !== "merged") entry.stuck ??= `waits for the merge of job ${pred}`;
	}
	const coming = new Set<string>();
	for (const { artifact, present, producers } of facts.artifacts) {
		if (present || producers.every(isTerminal)) continue;
		coming.add(artifact);
		entry.after.push(...(yield* makersOf(tx, job, artifact)));
	}
	const bucket = tx.memory.buckets.get(job.bucket) ?? bucketOf(job, job.bucket);
	hold(entry, allReasons(job, bucket, facts, tx.world()), coming);
	return entry;
}

/** The newest runs that succeeded, and how long each took. */
async function readSamples({ core }: Parts): Promise<Sample[]> {
	const samples: Sample[] = [];
	let before: { ended_at: number; id: number } | null = { ended_at: Number.MAX_SAFE_INTEGER, id: 0 };
	for (let looked = 0; before !== null && looked < PAST; looked += PIECE) {
		const at: { ended_at: number; id: number } = before;
		const some = await core.look(function* (tx) {
			const jobs: Job[] = yield* ask({ read: "recent", before: at, limit: PIECE });
			const good = jobs.filter(
				(job) => job.status === "succeeded" && queuePolicy(job.kind).isListed && job.last_run && job.ended_at !== undefined,
			);
			const specs = yield* tx.specs(good.map((job) => job.id));
			const last = jobs[jobs.length - 1];
			return {
				next: last && jobs.length === PIECE ? { ended_at: last.ended_at ?? 0, id: last.id } : null,
				samples: good.map((job) => ({
					lane: job.lane,
					recipe: specs.get(job.id)?.recipe ?? null,
					ms: Math.max(0, (job.ended_at ?? 0) - (job.last_run?.started_at ?? 0)),
				})),
			};
		});
		samples.push(...some.samples);
		before = some.next;
	}
	return samples;
}
