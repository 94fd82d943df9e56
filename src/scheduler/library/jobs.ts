// The library's methods with which people steer jobs: cancel, take back, reorder, hold, approve, answer, merge, forget.

import type { Act, CancelReport, HoldReport, Scheduler } from "../../contracts/scheduler.ts";
import { CANCEL_PIECE, notCancelled, readAtOnce } from "../operations/cancel/cancel.ts";
import { cancelMany, waitingJobs } from "../operations/cancel/cancel-many.ts";
import { forgetBefore } from "../operations/upkeep.ts";
import type { LibraryParts } from "./parts.ts";

/** The methods that end jobs: cancel, cancelAll, clear. */
export function cancelMethods({ core }: LibraryParts, piece = CANCEL_PIECE): Pick<Scheduler, "cancel" | "cancelAll" | "clear"> {
	/** Resolves when the last waiting job has ended: what does not fit into one transaction is done by the next ones. */
	async function together(ids: readonly number[], act: (Act & { subtree?: boolean }) | undefined): Promise<CancelReport> {
		const what = { reason: act?.reason ?? "cancelled", subtree: act?.subtree === true, piece };
		const inSlices = () => cancelMany(core, ids, { ...what, by: act?.by });
		if (ids.length > readAtOnce(piece)) return inSlices();
		const once = await core.call("cancel", { jobs: [...ids], ...what }, act);
		if (once === "too many") return inSlices();
		const { note, ...report } = once;
		if (note === undefined) return report;
		while (await core.call("goOnWithCancel", { note }));
		const ended = new Set(await core.look((tx) => notCancelled(tx, report.cancelled)));
		return { ...report, cancelled: report.cancelled.filter((id) => !ended.has(id)), ended: [...ended] };
	}
	return {
		cancel: async (at, act) => {
			const { cancelled, requested } = await together([at], act);
			return { cancelled, requested };
		},
		cancelAll: async (at, act) => together(at, act),
		clear: async (act) => {
			const once = await core.call("clear", { item: act?.item, piece }, act);
			if (once !== "too many") return once;
			const how = { reason: "cleared", subtree: false, piece, by: act?.by };
			return { cleared: (await cancelMany(core, await waitingJobs(core, piece), how)).cancelled };
		},
	};
}

export function jobMethods({ core, clock }: LibraryParts, tick: () => Promise<unknown>) {
	const rewound = async (job: number, what: "downstream" | "alone", act: Act | undefined) =>
		andRestarted(await core.call("rewind", { job, what }, act));

	async function andRestarted<T extends { reset: number[] }>(report: T): Promise<T & { restarted: number[] }> {
		await tick();
		return core.look(function* (tx) {
			yield* tx.load(report.reset);
			return { ...report, restarted: report.reset.filter((one) => tx.peek(one)?.status === "running") };
		});
	}

	return {
		retry: async (job, act) => rewound(job, "downstream", act),
		retryAll: async (jobs, act) => andRestarted(await core.call("rewindAll", { jobs: [...jobs] }, act)),
		rerun: async (job, act) => rewound(job, "alone", act),
		promote: async (job, act) => core.call("promote", { job }, act),
		demote: async (job, act) => core.call("demote", { job }, act),
		priority: async (job, priority, act) => core.call("prioritise", { job, priority }, act),
		runNow: async (job, act) => core.call("runNow", { job, how: act?.force ? "force" : "in_line" }, act),
		hold: async (ids, act) => inPieces(ids, (jobs) => core.call("hold", { jobs, reason: act?.reason }, act)),
		release: async (ids, act) => inPieces(ids, (jobs) => core.call("release", { jobs }, act)),
		freeze: async (ids, act) => inPieces(ids, (jobs) => core.call("freeze", { jobs, reason: act?.reason }, act)),
		thaw: async (ids, act) => inPieces(ids, (jobs) => core.call("thaw", { jobs }, act)),
		signalled: async ({ job, attempt }, signal, act) => core.call("signalled", { job, attempt, signal }, act),
		approve: async (job, act) => core.call("approve", { job }, act),
		reject: async (job, act) => core.call("reject", { job, reason: act?.reason ?? "rejected" }, act),
		answer: async (job, text, act) => core.call("answer", { job, text, grant: act?.grant }, act),
		tell: async (job, text, act) => core.call("tell", { job, text }, act),
		merged: async (job, status, report) => core.call("merged", { job, status, report: report ?? {} }),
		mergeAgain: async (job, act) => core.call("mergeAgain", { job }, act),
		dropMerge: async (job, act) => core.call("dropMerge", { job, reason: act?.reason }, act),
		closeBatch: async (name, act) => core.call("closeBatch", { name }, act),
		gc: async ({ days = 7 } = {}) => forgetBefore(core, clock.now() - days * 86_400_000),
	} satisfies Partial<Scheduler>;
}

/** Jobs that one transaction holds, releases, freezes or thaws: other calls wait no longer than for these. */
const HELD_AT_ONCE = 500;

async function inPieces(ids: readonly number[], act: (jobs: number[]) => Promise<HoldReport>): Promise<HoldReport> {
	const report: HoldReport = { done: [], refused: [] };
	for (let from = 0; from < ids.length; from += HELD_AT_ONCE) {
		const { done, refused } = await act(ids.slice(from, from + HELD_AT_ONCE));
		report.done.push(...done);
		report.refused.push(...refused);
	}
	return report;
}
