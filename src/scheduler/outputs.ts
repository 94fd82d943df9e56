// What is kept of runs for other hosts, and the questions that hosts leave for each other in the store.
//
//   record               holds                                        goes
//   output/<job>.<n>     what is kept of a run; large                 with its job, or when a run of twenty attempts later is kept
//   ask/<id>             who asks whom, and until when; small,        when the answer is taken, or when its time is over
//                        known to every process
//   reply/<id>           the answer; large                            with its question

import { SluiceError } from "../core/errors.ts";
import type { Clock, Host } from "../host.ts";
import type { Outputs, Question, RunOutput } from "../output.ts";
import { ask, type Op } from "../store.ts";
import type { Engine } from "./engine.ts";
import { mustFind } from "./look.ts";
import type { Tx } from "./tx.ts";

export type AskRecord = { id: string; from: string; to: string; until: number; question: Question; replied?: true };

/** Attempts of one job of which something is kept. */
const KEPT_ATTEMPTS = 20;
/** Questions that may be open at once. */
const MOST_ASKS = 500;
/** Where the store does not tell of answers by itself. */
const LOOK_MS = 100;
/** An answer that nobody takes is kept this long beyond the question's time. */
const SPARE_MS = 10_000;
const keyOf = (job: number, attempt: number) => `${job}.${attempt}`;
const asksIn = (tx: Tx) => [...(tx.memory.all("ask") as Map<string, AskRecord>).values()];

function drop(tx: Tx, id: string): void {
	tx.put("ask", id, null);
	tx.putAside("reply", id, null);
}

/** Questions whose time is over. */
export function dropOldAsks(tx: Tx): void {
	for (const { id, until } of asksIn(tx)) if (until + SPARE_MS < tx.now) drop(tx, id);
}

/** What was kept of a job that is being forgotten. */
export function dropOutputs(tx: Tx, job: number, attempts: number): void {
	if (tx.memory.recall("meta", "outputs") === null) return;
	for (let attempt = attempts; attempt > Math.max(0, attempts - KEPT_ATTEMPTS); attempt--) tx.putAside("output", keyOf(job, attempt), null);
}

function* keep(tx: Tx, id: number, attempt: number, output: RunOutput): Op<void> {
	const job = yield* tx.find(id);
	if (!job || attempt > job.attempt) return;
	if (tx.memory.recall("meta", "outputs") === null) tx.put("meta", "outputs", true);
	tx.putAside("output", keyOf(id, attempt), output);
	if (attempt > KEPT_ATTEMPTS) tx.putAside("output", keyOf(id, attempt - KEPT_ATTEMPTS), null);
}

function* ranOn(tx: Tx, id: number, attempt: number): Op<string | null> {
	const job = yield* mustFind(tx, id);
	for (const run of [job.run, job.last_run]) if (run?.attempt === attempt) return run.host ?? null;
	const runs = yield* ask({ read: "runs", job: id });
	return runs.find((run) => run.attempt === attempt)?.host ?? null;
}

type Parts = { engine: Engine; clock: Clock; host: Host; name: string };

export function createOutputs({ engine, clock, host, name }: Parts) {
	const answerers = new Set<(question: Question) => Promise<unknown>>();
	/** Questions that are being answered, and those of ours that wait. */
	const busy = new Set<string>();
	const waiting = new Map<string, () => void>();

	async function reply({ id, question }: AskRecord): Promise<void> {
		const [call] = answerers;
		if (!call || busy.has(id)) return;
		busy.add(id);
		try {
			const answer = await call(question).catch(() => null);
			await engine.run(function* (tx) {
				dropOldAsks(tx);
				const open = yield* tx.get<AskRecord>("ask", id);
				if (!open || open.replied) return;
				tx.putAside("reply", id, answer);
				tx.put("ask", id, { ...open, replied: true } satisfies AskRecord);
			});
		} catch {
			// The store failed: whoever asks has given up by the time it is back, or asks again.
		} finally {
			busy.delete(id);
		}
	}

	async function inquire(to: string, question: Question, waitMs: number): Promise<unknown> {
		const id = await engine.run(function* (tx) {
			dropOldAsks(tx);
			if (tx.memory.all("ask").size >= MOST_ASKS)
				throw new SluiceError("limit", `${MOST_ASKS} questions between hosts are open already`, { hint: "try again in a moment" });
			const fresh = String(tx.nextId("token"));
			tx.put("ask", fresh, { id: fresh, from: name, to, until: tx.now + waitMs, question } satisfies AskRecord);
			yield* [];
			return fresh;
		});
		const until = clock.monotonic() + waitMs;
		for (;;) {
			const left = until - clock.monotonic();
			await new Promise<void>((resolve) => {
				const cancel = host.after(Math.max(0, Math.min(LOOK_MS, left)), resolve, "hold");
				waiting.set(id, () => {
					cancel();
					resolve();
				});
			});
			waiting.delete(id);
			const found = await engine.run(function* (tx): Op<{ answer: unknown } | null> {
				const open = yield* tx.get<AskRecord>("ask", id);
				if (open && !open.replied && left > 0) return null;
				const [kept] = open?.replied ? yield* ask({ read: "records", kind: "reply", keys: [id] }) : [];
				drop(tx, id);
				return { answer: kept?.[1] ?? null };
			});
			if (found) return found.answer;
		}
	}

	const outputs: Outputs = {
		keep: (job, attempt, output) => engine.run((tx) => keep(tx, job, attempt, output)),
		read: (job, attempt) =>
			engine.run(function* () {
				const [kept] = yield* ask({ read: "records", kind: "output", keys: [keyOf(job, attempt)] });
				return (kept?.[1] ?? null) as RunOutput | null;
			}),
		missing: (runs) =>
			engine.run(function* (tx) {
				yield* tx.load(runs.map(({ job }) => job));
				const there = runs.filter(({ job }) => tx.peek(job) !== undefined);
				const kept = yield* ask({ read: "records", kind: "output", keys: there.map(({ job, attempt }) => keyOf(job, attempt)) });
				const keys = new Set(kept.map(([key]) => key));
				return there.filter(({ job, attempt }) => !keys.has(keyOf(job, attempt)));
			}),
		ranOn: (job, attempt) => engine.run((tx) => ranOn(tx, job, attempt)),
		inquire,
		answer(call) {
			answerers.add(call);
			return () => answerers.delete(call);
		},
	};
	return {
		outputs,
		/** After each commit: the questions as they stand. */
		note(asks: ReadonlyMap<string, unknown>): void {
			for (const one of asks.values() as Iterable<AskRecord>) {
				if (one.replied) waiting.get(one.id)?.();
				else if (one.to === name && one.until > clock.now() - SPARE_MS) void reply(one);
			}
		},
	};
}
