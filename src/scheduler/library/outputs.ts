// Output of runs that is kept for other hosts, and the questions that hosts leave for each other in the store.
//
//   record               holds                                        deleted
//   output/<job>.<n>     output of attempt n; large                   with its job, or when attempt n + 20 is kept
//   ask/<id>             asking and asked host, deadline; small,      when the answer is collected, or after the deadline
//                        in every process's memory
//   reply/<id>           the answer; large                            with its question

import type { Clock, Host } from "../../contracts/host.ts";
import type { OutputRequest, Outputs, RunOutput } from "../../contracts/output.ts";
import { ask, type Op } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import type { Engine } from "../transaction/group-commit.ts";
import { storedRecords } from "../transaction/record-map.ts";
import type { Tx } from "../transaction/tx.ts";
import { mustFind } from "../views/jobs.ts";

export type AskRecord = { id: string; from: string; to: string; until: number; question: OutputRequest; replied?: true };

/** Number of attempts of one job whose output is kept. */
const KEPT_ATTEMPTS = 20;
/** Maximum number of open questions. */
const MOST_ASKS = 500;
/** How often the asking host looks for the answer, for stores that do not notify it. */
const LOOK_MS = 100;
/** How long an answer that was not collected is kept after the question's deadline. */
const SPARE_MS = 10_000;
const keyOf = (job: number, attempt: number) => `${job}.${attempt}`;
const asksIn = (tx: Tx) => [...tx.memory.all("ask").values()];

function drop(tx: Tx, id: string): void {
	tx.put("ask", id, null);
	tx.putAside("reply", id, null);
}

/** Deletes questions past their deadline, with their answers. */
export function dropOldAsks(tx: Tx): void {
	for (const { id, until } of asksIn(tx)) if (until + SPARE_MS < tx.now) drop(tx, id);
}

/** Deletes the kept output of a job that is being forgotten. */
export function dropOutputs(tx: Tx, job: number, attempts: number): void {
	if (tx.memory.meta("outputs") === null) return;
	for (let attempt = attempts; attempt > Math.max(0, attempts - KEPT_ATTEMPTS); attempt--) tx.putAside("output", keyOf(job, attempt), null);
}

function* keep(tx: Tx, id: number, attempt: number, output: RunOutput): Op<void> {
	const job = yield* tx.find(id);
	if (!job || attempt > job.attempt) return;
	if (tx.memory.meta("outputs") === null) tx.putMeta("outputs", true);
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
	const answerers = new Set<(question: OutputRequest) => Promise<unknown>>();
	/** Ids of questions that this host is answering; below, wake-up calls of this host's own open questions. */
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
				const open = yield* tx.get("ask", id);
				if (!open || open.replied) return;
				tx.putAside("reply", id, answer);
				tx.put("ask", id, { ...open, replied: true });
			});
		} catch {
			// The store failed. By the time it is back, the asking host has given up, or asks again.
		} finally {
			busy.delete(id);
		}
	}

	async function inquire(to: string, question: OutputRequest, waitMs: number): Promise<unknown> {
		const id = await engine.run(function* (tx) {
			dropOldAsks(tx);
			if (tx.memory.all("ask").size >= MOST_ASKS)
				throw new SluiceError("limit", `${MOST_ASKS} questions between hosts are open already`, { hint: "try again in a moment" });
			const fresh = String(tx.nextId("token"));
			tx.put("ask", fresh, { id: fresh, from: name, to, until: tx.now + waitMs, question });
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
				const open = yield* tx.get("ask", id);
				if (open && !open.replied && left > 0) return null;
				const [kept] = open?.replied ? yield* storedRecords("reply", [id]) : [];
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
				const [kept] = yield* storedRecords("output", [keyOf(job, attempt)]);
				return kept?.[1] ?? null;
			}),
		missing: (runs) =>
			engine.run(function* (tx) {
				yield* tx.load(runs.map(({ job }) => job));
				const there = runs.filter(({ job }) => tx.peek(job) !== undefined);
				const wanted = there.map(({ job, attempt }) => keyOf(job, attempt));
				const kept = new Map(yield* storedRecords("output", wanted));
				return there.filter(({ job, attempt }) => !kept.has(keyOf(job, attempt)));
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
		/** After each commit: answers open questions to this host, and wakes callers whose question was answered. */
		note(asks: ReadonlyMap<string, AskRecord>): void {
			for (const one of asks.values()) {
				if (one.replied) waiting.get(one.id)?.();
				else if (one.to === name && one.until > clock.now() - SPARE_MS) void reply(one);
			}
		},
	};
}
