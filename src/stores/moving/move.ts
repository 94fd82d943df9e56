// Moves everything from one store to another, in batches: in one transaction of the target, holding the write lock of the source. Until that transaction commits,
// nothing has changed; if a kill, a full disk or a lost connection interrupts it, the target stays as it was, and the move can be started again.
//
//   look      refuse if jobs are running, hosts are live, or the target is not empty
//   copy      table by table in the order of keys, with a digest of what was read
//   compare   read the target back; its digest must be the same
//   commit    the target
//   mark      the source as moved: it refuses work from now on, since the same jobs would run twice

import { createHash } from "node:crypto";
import type { Moved } from "../../contracts/store.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import { isEmpty, type Running, type Survey, survey } from "./survey.ts";
import { type End, type MovedRow, pageOf, RECORD, TABLES, type Table } from "./tables.ts";

export type Side = { end: End; held: string | null };
type MoveProgress = { table: string; step: "copy" | "compare"; done: number; total: number };
export type MoveOptions = {
	/** `replace`: delete what the target holds, in the same transaction. */
	target: "empty" | "replace";
	/** `again`: allow a source that was moved before. */
	source: "once" | "again";
	progress?: (at: MoveProgress) => void;
};
export type Objection = { code: "conflict"; what: "busy" | "running" | "live_host" | "not_empty" | "moved"; message: string; hint: string };

/** The reasons against a move; `to` is null when the target does not exist yet. */
export function objections(
	{ from, to }: { from: { display: string; survey: Survey }; to: { display: string; survey: Survey } | null },
	{ target, source }: Pick<MoveOptions, "target" | "source">,
): Objection[] {
	const found: Objection[] = [];
	const add = (what: Objection["what"], message: string, hint: string) => found.push({ code: "conflict", what, message, hint });
	if (from.survey.moved && source === "once")
		add(
			"moved",
			`${from.display} was moved to ${from.survey.moved.to} at ${new Date(from.survey.moved.at).toISOString()}`,
			"what has happened there since is not in it; --again moves it once more all the same",
		);
	const sides = to === null ? [from] : [from, to];
	for (const { display, survey } of sides) {
		// A store that was moved away runs nothing any more: its hosts and running jobs are only leftovers.
		if (survey.moved) continue;
		for (const { name, left_ms } of survey.live)
			add(
				"live_host",
				`host ${name} works with ${display}`,
				`sluice down on that machine; if it has died its lease ends in ${Math.ceil(left_ms / 1000)} s`,
			);
		const { jobs, count } = survey.running;
		if (count > 0)
			add(
				"running",
				`${count === 1 ? "a job is" : `${count} jobs are`} running in ${display}: ${jobs.map(shown).join(", ")}${count > jobs.length ? " …" : ""}`,
				"wait until they have ended, or sluice down --stop-runs, which puts them back into the queue",
			);
	}
	if (to && !isEmpty(to.survey) && target === "empty")
		add(
			"not_empty",
			`${to.display} is not empty: ${contents(to.survey)}`,
			to.survey.moved
				? "it was moved away before; --replace puts this in its place"
				: "name another place, or --replace, which deletes what is there",
		);
	return found;
}

const shown = ({ id, name, host }: Running) => `${id}${name === null ? "" : ` (${name})`}${host === null ? "" : ` on ${host}`}`;
const contents = ({ rows: { job = 0, done = 0, event = 0, record = 0 } }: Survey) =>
	job + done > 0 ? `${job} jobs that wait, ${done} that have ended` : `no jobs, but ${event} events and ${record} records`;

export const inUse = (display: string, by: string | null = null): Objection => ({
	code: "conflict",
	what: "busy",
	message: by === null ? `${display} is in use by another process` : `${by} leads the queue in ${display}`,
	hint: "stop the daemons that work with it: sluice down",
});

export type Report = { rows: Record<string, number>; replaced: boolean; marked: boolean };

export async function move(from: Side, to: Side, options: MoveOptions): Promise<Report> {
	for (const { end } of [from, to]) {
		const begun = await end.begin();
		if (begun !== "locked") throw refusal(inUse(end.display, begun.busy));
	}
	const [source, target] = [await survey(from.end, from.held), await survey(to.end, to.held)];
	const sides = { from: { display: from.end.display, survey: source }, to: { display: to.end.display, survey: target } };
	const [first] = objections(sides, options);
	if (first) throw refusal(first);
	const replaced = !isEmpty(target);
	if (replaced) for (const table of TABLES) await to.end.clear(table);
	for (const table of TABLES) await copy(from.end, to.end, table, { total: source.rows[table.name] ?? 0, progress: options.progress });
	if ((await to.end.commit()) === "lost")
		throw new SluiceError("store", `the connection to ${to.end.display} broke while it was writing`, {
			hint: "nothing was moved: begin again",
		});
	const rows = { ...source.rows, ...(source.moved ? { record: (source.rows.record ?? 1) - 1 } : {}) };
	return { rows, replaced, marked: await mark(from.end, to.end.display) };
}

const refusal = ({ code, message, hint }: Objection) => new SluiceError(code, message, { hint });

/** The source's own record that it was moved is not copied. */
const isMark = (table: Table, row: MovedRow) => table.name === "record" && row[0] === "meta" && row[1] === "moved";

async function copy(
	from: End,
	to: End,
	table: Table,
	{ total, progress }: { total: number; progress: MoveOptions["progress"] },
): Promise<void> {
	const sent = createHash("sha256");
	let done = 0;
	for await (const rows of pages(from, table)) {
		const kept = rows.filter((row) => !isMark(table, row));
		await to.append(table, kept);
		for (const row of kept) sent.update(JSON.stringify(row));
		done += rows.length;
		progress?.({ table: table.name, step: "copy", done, total });
	}
	const arrived = createHash("sha256");
	let seen = 0;
	for await (const rows of pages(to, table)) {
		for (const row of rows) arrived.update(JSON.stringify(row));
		seen += rows.length;
		progress?.({ table: table.name, step: "compare", done: seen, total });
	}
	if (sent.digest("hex") !== arrived.digest("hex"))
		throw new SluiceError("store", `the table ${table.name} came out differently in ${to.display}`, {
			hint: "nothing was moved; this is a fault of Sluice, please tell us",
		});
}

/** Approximate number of characters in a batch: rows have from a hundred bytes to a megabyte. */
const PIECE_CHARS = 2_000_000;
const MOST_ROWS = 2_000;

async function* pages(end: End, table: Table): AsyncGenerator<MovedRow[]> {
	let after: MovedRow | null = null;
	let limit = 100;
	for (;;) {
		const { sql, params } = pageOf(table, after, limit);
		const rows = await end.select(sql, params);
		if (rows.length > 0) yield rows;
		if (rows.length < limit) return;
		after = nth(rows, -1);
		let chars = 1;
		for (const row of rows) for (const cell of row) chars += typeof cell === "string" ? cell.length : 8;
		limit = Math.max(1, Math.min(MOST_ROWS, 2 * limit, Math.floor((PIECE_CHARS / chars) * rows.length)));
	}
}

/** False: the move is done, but the source could not be marked as moved. */
async function mark(from: End, to: string): Promise<boolean> {
	try {
		const body = JSON.stringify({ to, at: await from.now() } satisfies Moved);
		await from.select("DELETE FROM record WHERE kind = ? AND key = ?", ["meta", "moved"]);
		await from.append(RECORD, [["meta", "moved", body]]);
		return (await from.commit()) === "committed";
	} catch {
		return false;
	}
}
