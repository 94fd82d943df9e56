// The whole queue at a glance, in lines: what runs and waits, what is wrong, what needs a person, lanes, holds and hosts.

import type { StatusDocument } from "../../api/documents/status.ts";
import { usedWords } from "../../core/ledger.ts";
import { addressOf } from "../dashboard-link.ts";
import type { Io } from "../io.ts";
import { agoWords, withLocalTimes } from "../times.ts";
import { deniedWords, grantAdvice, labelOf, unmergedWords } from "./job-lines.ts";
import { cap, count, field, type ListColumn, listLines, right, time } from "./list.ts";
import { counted, plain } from "./print.ts";
import { printable } from "./sequences.ts";
import { cut } from "./table.ts";

type Shown = { status: StatusDocument; print: Io["print"]; now: number };

export function statusLines(status: StatusDocument, io: Io): string[] {
	const shown = { status, print: io.print, now: io.world.now() };
	return [...queueLines(shown), ...daemonLines(shown), ...personLines(shown), ...troubleLines(shown), ...tables(status, io)];
}

/** What waits and runs, and what holds it. */
function queueLines({ status, print, now }: Shown): string[] {
	const { paint, width } = print;
	const most = status.max_concurrent > 0 ? ` of ${status.max_concurrent}` : " (no cap)";
	const frozen = status.frozen ?? [];
	const lines = [
		`Queued: ${status.queued_total} total, ${status.queued_ready} ready${heldCount(status)}`,
		`Running: ${paint(status.running > 0 ? "cyan" : "dim", `${slotsUsed(status)}${most}`)}${lendingWords(status)}`,
	];
	if (status.paused) {
		const what = `Paused${frozen.length > 0 ? " and frozen" : ""}`;
		lines.push(paint("yellow", `${what}: by ${plain(status.paused_by)}, ${agoWords(status.paused_at, now)}${kernelGoesOn(status)}`));
	}
	if (frozen.length > 0) lines.push(cut(paint("yellow", `Frozen: ${counted(frozen.length, "run")}, of ${jobsWords(frozen)}`), width));
	return [...lines, ...kernelLine(status), ...heldLines(status).map((line) => cut(paint("yellow", withLocalTimes(line, now)), width))];
}

/** The daemon itself: its configuration, disk and HTTP, and when it last started a job. */
function daemonLines({ status, print: { paint }, now }: Shown): string[] {
	const lines: string[] = [];
	if (status.config_problem) lines.push(paint("red", `Not in force: ${printable(status.config_problem)}`));
	if (status.disk_problem) lines.push(paint("red", `Disk: ${printable(status.disk_problem)}`));
	for (const { webhook, error, waiting } of status.webhook_problems ?? [])
		lines.push(paint("red", `Webhook ${printable(webhook)} fails: ${printable(error)}; ${counted(waiting, "event")} waiting`));
	if (typeof status.http_port === "number") {
		const address = `Dashboard: ${addressOf(status.http_port)}`;
		lines.push(status.http_problem ? paint("yellow", `${address} (${printable(status.http_problem)})`) : address);
	} else if (status.http_problem) lines.push(paint("yellow", `No HTTP: ${printable(status.http_problem)}`));
	if (status.backpressure) lines.push(paint("yellow", `Backpressure: ${printable(status.backpressure)}`));
	if (status.last_dispatch_at) lines.push(`Last start: ${agoWords(status.last_dispatch_at, now)}`);
	return lines;
}

/** What needs a person: questions, approvals, merges, denied calls. */
function personLines({ status, print, now }: Shown): string[] {
	const { paint, width } = print;
	const asked = (status.needs_human ?? []).flatMap(({ job, name, agent, question, denied = [], since }) => {
		const what = question === null ? "needs approval" : `asks: ${printable(question)}`;
		const grant = denied.length === 0 ? "" : `; ${grantAdvice({ id: job, agent, denied })}`;
		const then = question === null ? `sluice approve ${job}` : `sluice answer ${job} TEXT${grant}`;
		return [
			cut(paint("yellow", `Needs you: ${labelOf({ id: job, name })} ${what}`), width),
			paint("dim", `  since ${agoWords(since, now)} → ${then}`),
		];
	});
	const unmerged = grouped(status.unmerged ?? []).flatMap(({ job, name, merge_status, uncommitted, message, since, more }) => {
		const who = `${labelOf({ id: job, name })}${more > 0 ? ` and ${more} more` : ""}`;
		const short = unmergedWords({ status: "succeeded", merge_status, merge_report: { uncommitted } });
		const said = message === null ? "" : printable(message.replace(/^verify failed: /, ""));
		const what = merge_status === "base_dirty" && said !== "" ? `not merged yet: ${said}` : [short, said].filter(Boolean).join(", ");
		return [cut(paint("yellow", `Needs you: ${who} ${what}`), width), paint("dim", `  since ${agoWords(since, now)} → sluice why ${job}`)];
	});
	return [...asked, ...unmerged, ...deniedLines(status, print)];
}

/** Failures of the last day, and budgets that are nearly used up. */
function troubleLines({ status, print: { paint }, now }: Shown): string[] {
	const failures = failureWords(status);
	const budgets = (status.budgets ?? []).map(({ reserved, over_limit, refills_at, ...budget }) => {
		const more = [reserved > 0 && "some of it set aside by what runs", refills_at && `begins anew ${agoWords(refills_at, now)}`].filter(
			Boolean,
		);
		const words = `Budget: ${printable(budgetWords(budget))}${more.length > 0 ? `, ${more.join(", ")}` : ""}`;
		return paint(over_limit ? "red" : "yellow", words);
	});
	return [...(failures === "" ? [] : [paint("red", failures)]), ...budgets];
}

type Lane = StatusDocument["lanes"][string] & { name: string };
const LANE_COLUMNS: readonly ListColumn<Lane>[] = [
	field("name", "LANE"),
	count("queued"),
	count("running"),
	cap("max", "MAX"),
	{ title: "", cell: (lane, { print }) => (lane.max ? print.paint("cyan", gauge(slotsUsed(lane), lane.max)) : "") },
];
const HOLD_COLUMNS: readonly ListColumn<StatusDocument["holds"][number]>[] = [
	field("scope", "HOLD"),
	{ title: "KIND", cell: ({ kind }, { print }) => print.paint("yellow", kind.replaceAll("_", " ")) },
	time("since", "SINCE"),
	time("until", "ENDS"),
	{ title: "BY", shrink: 5, cell: ({ by }) => printable(by) },
	{ title: "REASON", shrink: 10, cell: ({ reason }) => printable(reason) },
];
const HOST_COLUMNS: readonly ListColumn<StatusDocument["hosts"][number]>[] = [
	field("name", "HOST"),
	{ title: "STATE", cell: ({ state }, { print }) => (state === "live" ? state : print.paint("yellow", state)) },
	// An older daemon does not send it.
	count("running"),
	{ title: "MAX", ...right, cell: ({ max }) => String(max ?? "–") },
	field("labels"),
	time("heartbeat_at", "SEEN"),
];

/** Lanes, holds and hosts; a table without rows is left out. */
function tables({ lanes, holds, hosts }: StatusDocument, io: Io): string[] {
	const shown = <T>(rows: readonly T[], columns: readonly ListColumn<T>[]) =>
		rows.length === 0 ? [] : ["", ...listLines(io, rows, columns)];
	const named = Object.entries(lanes).map(([name, lane]) => ({ name, ...lane }));
	return [...shown(named, LANE_COLUMNS), ...shown(holds, HOLD_COLUMNS), ...shown(hosts, HOST_COLUMNS)];
}

/** An older daemon does not send it. */
const kernelOf = ({ kernel }: Partial<StatusDocument>) => kernel ?? { queued: 0, dispatched: 0 };

function kernelLine(status: StatusDocument): string[] {
	const { queued, dispatched } = kernelOf(status);
	return queued + dispatched === 0 ? [] : [`Kernel: ${queued} queued, ${dispatched} dispatched; sluice kernel list`];
}

const kernelGoesOn = (status: StatusDocument): string =>
	kernelOf(status).queued > 0 ? "; entries of the kernel's queue can still be claimed" : "";

type Unmerged = NonNullable<StatusDocument["unmerged"]>[number];

/** Uncommitted work in a checkout holds all merges of its base: printed once. */
function grouped(unmerged: readonly Unmerged[]): (Unmerged & { more: number })[] {
	const groups = new Map<string, Unmerged & { more: number }>();
	for (const one of unmerged) {
		const key = one.merge_status === "base_dirty" ? `${one.message}` : `job ${one.job}`;
		const group = groups.get(key);
		if (group) group.more++;
		else groups.set(key, { ...one, more: 0 });
	}
	return [...groups.values()];
}

/** `job 7 was not allowed Bash: npm test`, and the command that shows the rest, for ended jobs. An older daemon does not send them. */
function deniedLines({ denied = [] }: Partial<StatusDocument>, { paint, width }: Io["print"]): string[] {
	const lines = denied
		.slice(0, DENIED)
		.flatMap(({ job, name, denied: calls }) => [
			cut(paint("yellow", `${labelOf({ id: job, name })} ${deniedWords({ denied: calls })}`), width),
			paint("dim", `  → sluice show ${job}`),
		]);
	const rest = denied.length - DENIED;
	return rest > 0
		? [
				...lines,
				paint("yellow", `${counted(rest, "more job")} ${rest === 1 ? "was" : "were"} not allowed something`),
				paint("dim", "  → sluice list --all"),
			]
		: lines;
}

const DENIED = 3;

/** `3 failed, 1 blocked in the last 24 hours: sluice list --status failed`; empty if there are none. */
export function failureWords({ recent_failures: some }: Partial<StatusDocument>): string {
	if (!some) return "";
	const counts = [
		[some.failed, "failed", "failed"],
		[some.blocked_by_dependency, "blocked", "blocked_by_dependency"],
	] as const;
	const there = counts.filter(([count]) => count > 0);
	if (there.length === 0) return "";
	const words = there.map(([count, word]) => `${count} ${word}`).join(", ");
	return `${words} in the last 24 hours: sluice list${there.map(([, , status]) => ` --status ${status}`).join("")}`;
}

/** A ready job waits for nothing of its own; a hold or a budget may still keep it. */
const heldCount = ({ queued_ready, queued_held }: StatusDocument): string =>
	!queued_held ? "" : queued_held === queued_ready ? ", all of them held" : `, ${queued_held} of them held`;

/** Runs that count against the cap, without runs that wait for jobs. An older daemon does not send `lending`. */
export const slotsUsed = ({ running, lending = 0 }: { running: number; lending?: number }): number => running - lending;

/** `, 2 more wait for jobs and lend their slots` */
export const lendingWords = ({ lending = 0 }: { lending?: number }): string =>
	lending === 0
		? ""
		: lending === 1
			? ", 1 more waits for jobs and lends its slot"
			: `, ${lending} more wait for jobs and lend their slots`;

const NAMED_JOBS = 10;
const jobsWords = (ids: readonly number[]): string =>
	`${ids.length === 1 ? "job" : "jobs"} ${ids.slice(0, NAMED_JOBS).join(", ")}${ids.length > NAMED_JOBS ? " …" : ""}`;

/** `3 queued, 2 ready, 1 of them held` */
export const queuedWords = (status: StatusDocument): string =>
	`${status.queued_total} queued, ${status.queued_ready} ready${heldCount(status)}`;

const HELD_LINES = 5;

/** What keeps ready jobs from starting. A pause of everything has its own line. An older daemon does not send it. */
function heldLines({ held = [] }: Partial<StatusDocument>): string[] {
	const listed = held.filter(({ subject }) => subject !== "all");
	const lines = listed
		.slice(0, HELD_LINES)
		.map(
			({ kind, detail, jobs }) => `Held: ${counted(jobs, "job")}, ${printable(kind === "held" ? detail.replace(/^held /, "") : detail)}`,
		);
	const rest = listed.slice(HELD_LINES).reduce((sum, { jobs }) => sum + jobs, 0);
	return rest === 0 ? lines : [...lines, `Held: ${counted(rest, "job")} for other reasons; sluice why ID tells`];
}

/** `owner:ann has used 3 of 5 runs` */
export const budgetWords = ({ subject, dim, used, limit }: { subject: string; dim: string; used: number; limit: number | null }): string =>
	`${subject} has used ${usedWords(used, limit, dim)}`;

/** `███░░` */
export function gauge(used: number, max: number, columns = 10): string {
	const width = Math.min(columns, max);
	const full = Math.min(width, Math.ceil((used / max) * width));
	return "█".repeat(full) + "░".repeat(width - full);
}
