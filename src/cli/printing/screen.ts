// Draws the live screen. Pure, so that tests can check it.

import type { StatusDocument } from "../../api/documents/status.ts";
import { clockTime, instantOf, relative } from "../times.ts";
import { cellOf, columnOf, hasEnded, isHeldBack, isWaiting, type ShownJob } from "./job-lines.ts";
import type { Paint } from "./print.ts";
import { printable } from "./sequences.ts";
import { gauge, lendingWords, queuedWords, slotsUsed } from "./status-lines.ts";
import { cut, pad, table, widthOf } from "./table.ts";

export type ScreenView = {
	status: StatusDocument | undefined;
	/** In the order of the screen: see `inOrder`. */
	jobs: readonly ShownJob[];
	/** The selected job's number. */
	selected: number | undefined;
	/** Lines that cover the list: an explanation. */
	cover: readonly string[] | undefined;
	/** The last line: a question, or what was just done. */
	note: string | undefined;
	now: number;
};
export type Size = { columns: number; rows: number };

const KEYS = "q quit · j k select · w why · c cancel · p pause or resume";
const FIELDS = ["id", "status", "name", "subject", "lane", "age", "remark"];

/** Running jobs first, then waiting ones, then those that ended during this session, the latest first. */
export function inOrder(jobs: readonly ShownJob[]): ShownJob[] {
	const rank = (job: ShownJob) => (job.status === "running" ? 0 : isWaiting(job) ? (isHeldBack(job) ? 2 : 1) : 3);
	return [...jobs].sort(
		(a, b) => rank(a) - rank(b) || (hasEnded(a) ? (instantOf(b.ended_at) ?? 0) - (instantOf(a.ended_at) ?? 0) : a.id - b.id),
	);
}

/** Exactly as many lines as the screen has rows, none wider than it. */
export function draw(view: ScreenView, { columns, rows }: Size, paint: Paint): string[] {
	// On a small screen the list matters more than lanes and holds.
	const head = rows < 9 ? headLines(view, columns, paint).slice(0, 1) : [...headLines(view, columns, paint), ""];
	const room = Math.max(1, rows - head.length - 1);
	const body = view.cover ? view.cover.slice(0, room) : listLines(view, columns, room, paint);
	const filled = [...body, ...Array<string>(Math.max(0, room - body.length)).fill("")];
	const foot = view.note === undefined ? paint("dim", view.cover ? "any key goes back" : KEYS) : paint("yellow", printable(view.note));
	return [...head, ...filled, foot].slice(0, rows).map((line) => cut(line, columns));
}

function headLines({ status, now }: ScreenView, columns: number, paint: Paint): string[] {
	if (!status) return [paint("dim", "sluice: waiting for the daemon …")];
	const cap = status.max_concurrent > 0 ? ` of ${status.max_concurrent}` : "";
	const parts = [
		paint("bold", "sluice"),
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

function listLines({ jobs, selected, now }: ScreenView, columns: number, room: number, paint: Paint): string[] {
	if (jobs.length === 0) return [paint("dim", "Nothing waits and nothing runs. Add something: sluice add -- make test")];
	const at = Math.max(
		0,
		jobs.findIndex((job) => job.id === selected),
	);
	// The selected row stays visible, a third from the top if there are more rows than fit.
	const visible = Math.max(1, room - 1);
	const first = Math.max(0, Math.min(at - Math.floor(visible / 3), jobs.length - visible));
	const shown = jobs.slice(first, first + visible);
	const rows = shown.map((job) => FIELDS.map((field) => cellOf(field, job, paint, now)));
	const [head = "", ...lines] = table(FIELDS.map(columnOf), rows, columns - 2, (text) => paint("dim", text));
	return [`  ${head}`, ...lines.map((line, index) => `${shown[index]?.id === selected ? paint("bold", "▸") : " "} ${line}`)];
}

/** The new selection. */
export function moved(jobs: readonly ShownJob[], selected: number | undefined, by: number): number | undefined {
	const at = jobs.findIndex((job) => job.id === selected);
	if (at < 0) return jobs[0]?.id;
	return jobs[Math.max(0, Math.min(jobs.length - 1, at + by))]?.id;
}
