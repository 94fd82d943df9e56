// The library's methods with which people steer jobs: cancel, take back, reorder, approve, answer, forget.

import type { Act, CancelReport, Scheduler } from "../../contracts/scheduler.ts";
import { CANCEL_PIECE, cancel, clear, isOpenNote, notCancelled, readAtOnce } from "../operations/cancel.ts";
import { cancelMany, waitingJobs } from "../operations/cancel-many.ts";
import * as control from "../operations/control.ts";
import { rewind, rewindAll } from "../operations/rewind.ts";
import { forgetBefore } from "../operations/upkeep.ts";
import { closeBatch } from "../views/listings.ts";
import type { LibraryParts } from "./parts.ts";

/** The methods that end jobs: cancel, cancelAll, clear. */
export function cancelMethods({ engine, run }: LibraryParts, piece = CANCEL_PIECE): Pick<Scheduler, "cancel" | "cancelAll" | "clear"> {
	/** Resolves when the last waiting job has ended: what does not fit into one transaction is done by the next ones. */
	async function together(ids: readonly number[], act: (Act & { subtree?: boolean }) | undefined): Promise<CancelReport> {
		const what = { reason: act?.reason ?? "cancelled", subtree: act?.subtree === true, piece };
		const inSlices = () => cancelMany(engine, ids, { ...what, by: act?.by });
		if (ids.length > readAtOnce(piece)) return inSlices();
		const once = await run((tx) => cancel(tx, ids, what), act, ids);
		if (once === "too many") return inSlices();
		const { note, ...report } = once;
		if (note === undefined) return report;
		while (await engine.runPlain((tx) => isOpenNote(tx, note)));
		const ended = new Set(await engine.run((tx) => notCancelled(tx, report.cancelled)));
		return { ...report, cancelled: report.cancelled.filter((id) => !ended.has(id)), ended: [...ended] };
	}
	return {
		cancel: async (at, act) => {
			const { cancelled, requested } = await together([at], act);
			return { cancelled, requested };
		},
		cancelAll: async (at, act) => together(at, act),
		clear: async (act) => {
			const once = await run((tx) => clear(tx, act?.item, piece), act);
			if (once !== "too many") return once;
			const how = { reason: "cleared", subtree: false, piece, by: act?.by };
			return { cleared: (await cancelMany(engine, await waitingJobs(engine, piece), how)).cancelled };
		},
	};
}

export function jobMethods({ engine, run, clock }: LibraryParts, tick: () => Promise<unknown>) {
	const rewound = async (at: number, what: "downstream" | "alone", act: Act | undefined) =>
		andRestarted(await run((tx) => rewind(tx, at, what), act, [at]));

	async function andRestarted<T extends { reset: number[] }>(report: T): Promise<T & { restarted: number[] }> {
		await tick();
		return engine.run(function* (tx) {
			yield* tx.load(report.reset);
			return { ...report, restarted: report.reset.filter((one) => tx.peek(one)?.status === "running") };
		});
	}

	return {
		retry: async (at, act) => rewound(at, "downstream", act),
		retryAll: async (at, act) => andRestarted(await run((tx) => rewindAll(tx, at), act, at)),
		rerun: async (at, act) => rewound(at, "alone", act),
		promote: async (at, act) => run((tx) => control.promote(tx, at), act, [at]),
		demote: async (at, act) => run((tx) => control.demote(tx, at), act, [at]),
		priority: async (at, priority, act) => run((tx) => control.prioritise(tx, at, priority), act, [at]),
		runNow: async (at, act) => run((tx) => control.runNow(tx, at, act?.force ? "force" : "in_line"), act, [at]),
		approve: async (at, act) => run((tx) => control.approve(tx, at), act, [at]),
		reject: async (at, act) => run((tx) => control.reject(tx, at, act?.reason ?? "rejected"), act, [at]),
		answer: async (at, text, act) => run((tx) => control.answer(tx, at, text, act?.grant), act, [at]),
		closeBatch: async (name, act) => run((tx) => closeBatch(tx, name), act),
		gc: async ({ days = 7 } = {}) => forgetBefore((task) => engine.run(task), clock.now() - days * 86_400_000),
	} satisfies Partial<Scheduler>;
}
