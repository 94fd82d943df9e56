// Draws the live screen. Pure, so that tests can check it.

import { dollars } from "../../core/ledger.ts";
import { cellOf, columnOf, type ShownJob } from "../printing/job-lines.ts";
import type { Paint } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { gauge, lendingWords, queuedWords, slotsUsed } from "../printing/status-lines.ts";
import { cut, pad, table, widthOf, wrap } from "../printing/table.ts";
import { clockTime, instantOf, relative } from "../times.ts";
import { listed, type Pane, type Section, sectionOf, type TopState } from "./state.ts";

export type Size = { columns: number; rows: number };

const KEYS = "? help · Enter log · w why · r retry · a approve · i answer · c cancel · / filter · q quit";
const FIELDS = ["id", "status", "name", "subject", "lane", "age"];

/** Exactly as many lines as the screen has rows, none wider than it. */
export function draw(state: TopState, { columns, rows }: Size, paint: Paint): string[] {
	const head = state.pane ? [paint("bold", printable(state.pane.title)), ""] : [...headLines(state, columns, paint), ""];
	// On a small screen the list matters more than lanes and holds.
	const above = rows < 9 ? head.slice(0, 1) : head;
	const room = Math.max(1, rows - above.length - 1);
	const body = state.pane ? paneLines(state.pane, columns, room) : listLines(state, columns, room, paint);
	const filled = [...body, ...Array<string>(Math.max(0, room - body.length)).fill("")];
	return [...above, ...filled, footLine(state, columns, paint)].slice(0, rows).map((line) => cut(line, columns));
}

/** What is asked, else what was just done, else the keys. Of a long input the end is shown, where it is typed. */
function footLine({ question, pane, note, filter }: TopState, columns: number, paint: Paint): string {
	if (question?.is === "confirm") return paint("yellow", printable(question.words));
	if (question) {
		const words = `${printable(question.words)}: `;
		const room = Math.max(1, columns - widthOf(words) - 1);
		const typed = [...printable(question.typed)].slice(-room).join("");
		return `${paint("yellow", words)}${typed}▏`;
	}
	if (note !== undefined) return paint("yellow", printable(note));
	if (pane?.is === "log")
		return paint(
			"dim",
			pane.from === "end" ? "follows · k back · any other key closes it" : "j k scroll · f follow · any other key closes it",
		);
	if (pane) return paint("dim", "j k scroll · any other key goes back");
	return paint("dim", filter === "" ? KEYS : `only jobs with: ${printable(filter)} · / change · Escape all`);
}

/** The lines of a pane that fit. A long line of a log is cut, one of a text is wrapped. */
function paneLines(pane: Pane, columns: number, room: number): string[] {
	if (pane.is === "log") {
		const from = pane.from === "end" ? Math.max(0, pane.lines.length - room) : Math.max(0, Math.min(pane.from, pane.lines.length - 1));
		return pane.lines.slice(from, from + room);
	}
	const lines = pane.lines.slice(pane.from).flatMap((line) => (widthOf(line) > columns ? wrap(line, columns) : [line]));
	return lines.slice(0, room);
}

function headLines({ status, now, needs }: TopState, columns: number, paint: Paint): string[] {
	if (!status) return [paint("dim", "sluice: waiting for the daemon …")];
	const cap = status.max_concurrent > 0 ? ` of ${status.max_concurrent}` : "";
	const parts = [
		paint("bold", "sluice"),
		...(needs.size > 0 ? [paint("yellow", `${needs.size} ${needs.size === 1 ? "needs" : "need"} you`)] : []),
		paint("cyan", `${slotsUsed(status)}${cap} running`) + lendingWords(status),
		queuedWords(status),
		...(status.paused
			? [
					paint(
						"yellow",
						`paused${(status.frozen ?? []).length > 0 ? " and frozen" : ""} by ${printable(status.paused_by ?? "an unknown user")} ${relative(instantOf(status.paused_at) ?? now, now)}`,
					),
				]
			: []),
		...(status.backpressure ? [paint("yellow", printable(status.backpressure))] : []),
	];
	const left = parts.join("  ·  ");
	const clock = clockTime(now);
	const top = widthOf(left) + 2 + clock.length <= columns ? `${pad(left, columns - clock.length)}${paint("dim", clock)}` : left;
	const lanes = Object.entries(status.lanes)
		.filter(([, lane]) => lane.max !== null || lane.running > 0 || lane.queued > 0)
		.map(([name, lane]) => {
			const bar = lane.max === null || lane.max === 0 ? "" : ` ${paint("cyan", gauge(slotsUsed(lane), lane.max, 8))}`;
			return `${printable(name)}${bar} ${lane.running}${lane.max === null ? "" : `/${lane.max}`}${lane.queued > 0 ? paint("dim", ` +${lane.queued}`) : ""}`;
		});
	const holds = status.holds
		.filter((hold) => hold.scope !== "all")
		.map(
			(hold) =>
				`${printable(hold.scope)} ${hold.kind.replaceAll("_", " ")}${hold.until ? ` ${relative(instantOf(hold.until) ?? now, now)}` : ""}`,
		);
	return [
		top,
		...(lanes.length > 0 ? [lanes.join("   ")] : []),
		...(holds.length > 0 ? [paint("yellow", `holds: ${holds.join(" · ")}`)] : []),
	];
}

/** A line of the list: a heading, or a job. */
type Row = { heading: Section; count: number } | { job: ShownJob };

function rowsOf(state: TopState): Row[] {
	const rows: Row[] = [];
	const jobs = listed(state);
	let section: Section | undefined;
	for (const job of jobs) {
		const now = sectionOf(job, state.needs);
		if (now !== section) rows.push({ heading: now, count: jobs.filter((one) => sectionOf(one, state.needs) === now).length });
		section = now;
		rows.push({ job });
	}
	return rows;
}

function listLines(state: TopState, columns: number, room: number, paint: Paint): string[] {
	if (state.jobs.length === 0) return [paint("dim", "Nothing waits and nothing runs. Add something: sluice add -- make test")];
	const all = rowsOf(state);
	if (all.length === 0) return [paint("dim", "No job has all of these words.")];
	const at = all.findIndex((row) => "job" in row && row.job.id === state.selected);
	// The selected row stays visible, a third from the top if there are more rows than fit.
	const visible = Math.max(1, room - 1);
	const first = Math.max(0, Math.min(Math.max(0, at) - Math.floor(visible / 3), all.length - visible));
	const shown = visible < 4 ? all.slice(Math.max(0, at), Math.max(0, at) + visible) : all.slice(first, first + visible);
	const jobs = shown.flatMap((row) => ("job" in row ? [row.job] : []));
	const cells = jobs.map((job) => [...FIELDS.map((field) => cellOf(field, job, paint, state.now)), doing(job, paint, state.now)]);
	const titles = [...FIELDS.map(columnOf), columnOf("remark")];
	const [head = "", ...lines] = table(titles, cells, columns - 2, (text) => paint("dim", text));
	let next = 0;
	const drawn = shown.map((row) => {
		if ("heading" in row) return headingLine(row, paint);
		return `${row.job.id === state.selected ? paint("bold", "▸") : " "} ${lines[next++] ?? ""}`;
	});
	return [`  ${head}`, ...drawn];
}

const headingLine = ({ heading, count }: Extract<Row, { heading: Section }>, paint: Paint): string =>
	paint(heading === "needs you" ? "yellow" : "dim", `${heading.toUpperCase()} ${count}`);

/** How the job stands; of a run also what it is doing, and what that has cost so far. */
function doing(job: ShownJob, paint: Paint, now: number): string {
	const stands = cellOf("remark", job, paint, now);
	const progress = job.status === "running" ? job.run?.progress : undefined;
	if (!progress) return stands;
	const { tool, message, last_line, turns, cost_micro } = progress;
	const words = [
		tool ? `▸ ${printable(tool)}` : "",
		message ? `“${printable(message)}”` : "",
		last_line ? printable(last_line) : "",
		turns ? `${turns} ${turns === 1 ? "turn" : "turns"}` : "",
		cost_micro ? dollars(cost_micro) : "",
	];
	return [stands, ...words.filter(Boolean).map((one) => paint("dim", one))].join(paint("dim", " · "));
}
