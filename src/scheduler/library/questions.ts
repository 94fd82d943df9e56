// Questions that hosts leave for each other in the store, and their answers. operations/outputs.ts says what is stored.

import type { Clock, Host } from "../../contracts/host.ts";
import type { OutputRequest } from "../../contracts/output.ts";
import type { Core } from "../operations/core.ts";
import { type AskRecord, isOpenAsk, SPARE_MS } from "../operations/outputs.ts";
import { reading } from "../transaction/pending.ts";

/** How often the asking host looks for the answer, for stores that do not notify it. */
const LOOK_MS = 100;

type Parts = { core: Core; clock: Clock; host: Host; name: string };

/** `name`: of this host. */
export function createQuestions({ core, clock, host, name }: Parts) {
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
			await core.call("replyTo", { id, reply: answer });
		} catch {
			// The store failed. By the time it is back, the asking host has given up, or asks again.
		} finally {
			busy.delete(id);
		}
	}

	async function inquire(to: string, question: OutputRequest, waitMs: number): Promise<unknown> {
		const id = await core.call("askHost", { from: name, to, question, wait_ms: waitMs });
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
			// Only a question that is answered or given up is worth a change.
			if (left > 0 && (await core.look(reading((tx) => isOpenAsk(tx, id))))) continue;
			const found = await core.call("collectReply", { id, otherwise: left > 0 ? "wait" : "give up" });
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
