// Questions that hosts leave for each other in the store, and their answers.
//
//   record               holds                                        deleted
//   ask/<id>             asking and asked host, deadline; small,      when the answer is collected, or after the deadline
//                        in every process's memory
//   reply/<id>           the answer; large                            with its question

import type { Clock, Host } from "../../contracts/host.ts";
import type { OutputRequest } from "../../contracts/output.ts";
import type { Op } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import type { Engine } from "../transaction/group-commit.ts";
import { storedRecords } from "../transaction/record-map.ts";
import type { Tx } from "../transaction/tx.ts";

export type AskRecord = { id: string; from: string; to: string; until: number; question: OutputRequest; replied?: true };

/** Maximum number of open questions. */
const MOST_ASKS = 500;
/** How often the asking host looks for the answer, for stores that do not notify it. */
const LOOK_MS = 100;
/** How long an answer that was not collected is kept after the question's deadline. */
const SPARE_MS = 10_000;
const asksIn = (tx: Tx) => [...tx.memory.all("ask").values()];

function drop(tx: Tx, id: string): void {
	tx.put("ask", id, null);
	tx.putAside("reply", id, null);
}

/** Deletes questions past their deadline, with their answers. */
export function dropOldAsks(tx: Tx): void {
	for (const { id, until } of asksIn(tx)) if (until + SPARE_MS < tx.now) drop(tx, id);
}

function open(tx: Tx, question: Omit<AskRecord, "id">): string {
	dropOldAsks(tx);
	if (tx.memory.all("ask").size >= MOST_ASKS)
		throw new SluiceError("limit", `${MOST_ASKS} questions between hosts are open already`, { hint: "try again in a moment" });
	const id = String(tx.nextId("token"));
	tx.put("ask", id, { id, ...question });
	return id;
}

/** Null while the question is open; otherwise the question is closed. */
function* collect(tx: Tx, id: string, otherwise: "wait" | "give up"): Op<{ answer: unknown } | null> {
	const asked = yield* tx.get("ask", id);
	if (asked && !asked.replied && otherwise === "wait") return null;
	const [kept] = asked?.replied ? yield* storedRecords("reply", [id]) : [];
	drop(tx, id);
	return { answer: kept?.[1] ?? null };
}

type Parts = { engine: Engine; clock: Clock; host: Host; name: string };

/** `name`: of this host. */
export function createQuestions({ engine, clock, host, name }: Parts) {
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
		const id = await engine.runPlain((tx) => open(tx, { from: name, to, until: tx.now + waitMs, question }));
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
			const found = await engine.run((tx) => collect(tx, id, left > 0 ? "wait" : "give up"));
			if (found) return found.answer;
		}
	}

	return {
		inquire,
		answer(call: (question: OutputRequest) => Promise<unknown>): () => void {
			answerers.add(call);
			return () => answerers.delete(call);
		},
		/** After each commit: answers open questions to this host, and wakes callers whose question was answered. */
		note(asks: ReadonlyMap<string, AskRecord>): void {
			for (const one of asks.values()) {
				if (one.replied) waiting.get(one.id)?.();
				else if (one.to === name && one.until > clock.now() - SPARE_MS) void reply(one);
			}
		},
	};
}
