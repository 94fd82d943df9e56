// One action on many jobs: who it concerns, the question that names how many, the calls, the message with what was refused, undo where it can be.

import { isTerminal } from "../../src/core/job.ts";
import { app } from "../app.ts";
import type { PageRow } from "../state/row.ts";
import { count } from "../state/words.ts";

export type BulkAction = {
	words: string;
	/** The jobs that it can be done to. */
	fits: (row: PageRow) => boolean;
	grave: boolean;
	/** What becomes of them, for the question. */
	text: string;
	/** After its call, in the past. */
	done: string;
	act: (ids: number[]) => Promise<Outcome>;
	undo?: (ids: number[]) => BulkAction;
};
type Outcome = { done: number[]; refused: { job: number; message: string }[] };

const waits = ({ status }: PageRow): boolean => !isTerminal(status) && status !== "running";
/** Ids of one call, so that no call takes long. */
const PIECE = 500;
/** Calls for single jobs that are under way at a time. */
const AT_ONCE = 4;

async function inPieces(ids: number[], call: (some: number[]) => Promise<Outcome>): Promise<Outcome> {
	const all: Outcome = { done: [], refused: [] };
	for (let at = 0; at < ids.length; at += PIECE) {
		const { done, refused } = await call(ids.slice(at, at + PIECE));
		all.done.push(...done);
		all.refused.push(...refused);
	}
	return all;
}

async function oneByOne(ids: number[], call: (id: number) => Promise<unknown>, atOnce = AT_ONCE): Promise<Outcome> {
	const all: Outcome = { done: [], refused: [] };
	const left = [...ids];
	const worker = async () => {
		for (let id = left.shift(); id !== undefined; id = left.shift()) {
			const mine = id;
			await call(mine).then(
				() => all.done.push(mine),
				(error: unknown) => all.refused.push({ job: mine, message: error instanceof Error ? error.message : String(error) }),
			);
		}
	};
	await Promise.all(Array.from({ length: Math.min(atOnce, ids.length) }, worker));
	return all;
}

const retryAll: BulkAction = {
	words: "Retry",
	fits: ({ status }) => isTerminal(status),
	grave: false,
	text: "They begin again, each with what comes after it.",
	done: "Put back",
	act: (ids) => oneByOne(ids, (id) => app.call("job.retry", { id })),
};
const releaseAll: BulkAction = {
	words: "Release",
	fits: (row) => waits(row) && row.held,
	grave: false,
	text: "They start when their turn comes.",
	done: "Released",
	act: (ids) => inPieces(ids, (some) => app.call("job.release", { ids: some })),
	undo: () => holdAll,
};
const holdAll: BulkAction = {
	words: "Hold",
	fits: (row) => waits(row) && !row.held,
	grave: false,
	text: "They do not start before they are released.",
	done: "Held",
	act: (ids) => inPieces(ids, (some) => app.call("job.hold", { ids: some })),
	undo: () => releaseAll,
};

export const BULK: readonly BulkAction[] = [
	{
		words: "Cancel",
		fits: ({ status }) => !isTerminal(status),
		grave: true,
		text: "Waiting ones end at once, running ones are asked to stop.",
		done: "Cancelled",
		act: (ids) =>
			inPieces(ids, async (some) => {
				const { cancelled, requested, refused } = await app.call("job.cancel", { ids: some });
				return { done: [...cancelled, ...requested], refused };
			}),
		undo: () => retryAll,
	},
	retryAll,
	holdAll,
	releaseAll,
	{
		words: "To the front",
		fits: waits,
		grave: false,
		text: "They become the first of their lanes, in their present order.",
		done: "Moved to the front",
		// The last one first, one after the other: each goes before those that were moved before it.
		act: (ids) => oneByOne([...ids].reverse(), (id) => app.call("job.promote", { id }), 1),
	},
	{
		words: "Approve",
		fits: ({ asks }) => asks === "approval",
		grave: false,
		text: "They start when their turn comes.",
		done: "Approved",
		act: (ids) => oneByOne(ids, (id) => app.call("job.approve", { id })),
	},
];

const jobs = (n: number): string => (n === 1 ? "1 job" : `${count(n)} jobs`);

async function carryOut(action: BulkAction, ids: number[]): Promise<void> {
	try {
		const { done, refused } = await action.act(ids);
		const [first] = refused;
		const rest = first ? ` ${jobs(refused.length)} refused it: ${first.message}${refused.length > 1 ? " …" : ""}` : "";
		const back = action.undo;
		app.say(
			done.length === 0 && first ? "failed" : "done",
			`${action.done} ${jobs(done.length)}.${rest}`,
			back && done.length > 0 ? () => void carryOut(back(done), done) : undefined,
		);
	} catch (error) {
		app.say("failed", error instanceof Error ? error.message : String(error));
	}
	app.look();
}

/** Asks first, with how many it concerns and how many stay as they are. */
export function askBulk(action: BulkAction, rows: readonly PageRow[], then: () => void): void {
	const ids = rows.filter(action.fits).map(({ id }) => id);
	const others = rows.length - ids.length;
	app.confirm({
		title: `${action.words} ${jobs(ids.length)}?`,
		text: `${action.text}${others > 0 ? ` The other ${count(others)} of the selection stay as they are.` : ""}`,
		yes: `${action.words} ${jobs(ids.length)}`,
		grave: action.grave,
		...(action.grave ? {} : { first: "yes" as const }),
		act: () => {
			then();
			void carryOut(action, ids);
		},
	});
}
