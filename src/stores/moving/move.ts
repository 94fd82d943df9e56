// Moves everything from one store to another: in pieces, in one transaction there, with the write lock here. Until that commits nothing has
// happened; whatever breaks it off (a kill, a full disk, a lost connection) leaves the target as it was, and the move can be begun again.
//
//   look      running jobs, live hosts and a target that is not empty are refused
//   copy      table by table in the order of keys; what is read is digested
//   compare   the target is read back and must have the same digest
//   commit    of the target
//   mark      of the source: it refuses work from now on, since the same jobs would be run twice

import { createHash } from "node:crypto";
import { SluiceError } from "../../core/errors.ts";
import type { Moved } from "../../store.ts";
import { isEmpty, type Running, type Survey, survey } from "./survey.ts";
import { type End, pageOf, type Row, TABLES, type Table } from "./tables.ts";

export type Side = { end: End; held: string | null };
export type Progress = { table: string; step: "copy" | "compare"; done: number; total: number };
export type MoveOptions = {
	/** `replace`: what the target has goes away, in the same transaction. */
	target: "empty" | "replace";
	/** `again`: also from a store that was moved before. */
	source: "once" | "again";
	progress?: (at: Progress) => void;
};
export type Objection = { code: "conflict"; what: "busy" | "running" | "live_host" | "not_empty" | "moved"; message: string; hint: string };

/** What speaks against a move; `to` null: nothing is there yet. */
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
		// What was moved away is a memory: nothing of it runs.
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

export const inUse = (display: string): Objection => ({
	code: "conflict",
	what: "busy",
	message: `${display} is in use by another process`,
	hint: "stop the daemons that work with it: sluice down",
});

export type Report = { rows: Record<string, number>; replaced: boolean; marked: boolean };

export async function move(from: Side, to: Side, options: MoveOptions): Promise<Report> {
	for (const { end } of [from, to]) if ((await end.begin()) === "busy") throw refusal(inUse(end.display));
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

/** A store that was moved says so itself; the copy does not. */
const isMark = (table: Table, row: Row) => table.name === "record" && row[0] === "meta" && row[1] === "moved";

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

/** So many characters at once, about: rows are from a hundred bytes to a megabyte. */
const PIECE_CHARS = 2_000_000;
const MOST_ROWS = 2_000;

async function* pages(end: End, table: Table): AsyncGenerator<Row[]> {
	let after: Row | null = null;
	let limit = 100;
	for (;;) {
		const { sql, params } = pageOf(table, after, limit);
		const rows = await end.select(sql, params);
		if (rows.length > 0) yield rows;
		if (rows.length < limit) return;
		after = rows[rows.length - 1] as Row;
		let chars = 1;
		for (const row of rows) for (const cell of row) chars += typeof cell === "string" ? cell.length : 8;
		limit = Math.max(1, Math.min(MOST_ROWS, 2 * limit, Math.floor((PIECE_CHARS / chars) * rows.length)));
	}
}

/** False: the move is done, but the source could not be told. */
async function mark(from: End, to: string): Promise<boolean> {
	try {
		const body = JSON.stringify({ to, at: await from.now() } satisfies Moved);
		const record = TABLES.find(({ name }) => name === "record") as Table;
		await from.select("DELETE FROM record WHERE kind = ? AND key = ?", ["meta", "moved"]);
		await from.append(record, [["meta", "moved", body]]);
		return (await from.commit()) === "committed";
	} catch {
		return false;
	}
}
