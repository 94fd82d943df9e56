// sluice status: the whole queue at a glance, once or continuously.

import type { StatusDocument } from "../../../api/documents/status.ts";
import type { Call } from "../../command.ts";
import { addressOf } from "../../dashboard-link.ts";
import { CliFailure } from "../../failure.ts";
import { answer, type Io } from "../../io.ts";
import { deniedWords, grantAdvice, labelOf, unmergedWords } from "../../printing/job-lines.ts";
import { counted, plain } from "../../printing/print.ts";
import { printable, tame } from "../../printing/sequences.ts";
import { cut, table } from "../../printing/table.ts";
import { instantOf, relative, withLocalTimes } from "../../times.ts";
import { budgetWords } from "../budget.ts";

const EVERY_MS = 1000;

export async function run(call: Call, io: Io): Promise<number | undefined> {
	if (call.flag("watch")) return watch(io);
	const document = await io.askIfRunning("scheduler.status");
	if (!document) {
		const stopped = { schema_version: 1, daemon: "stopped" };
		answer(io, stopped, () => {
			io.print.warn("No daemon is running.");
			io.print.say(io.print.paintTalk("dim", "sluice up starts it; so does any command that needs it, such as sluice list"));
		});
		return undefined;
	}
	answer(io, document, () => {
		for (const line of statusLines(document as StatusDocument, io)) io.print.out(line);
	});
	return undefined;
}

/** Updates in place on a terminal; otherwise prints a new document or block after each change. */
async function watch(io: Io): Promise<never> {
	const live = io.world.stdout.isTTY === true && !io.json;
	let last = "";
	let document = await io.askIfRunning("scheduler.status");
	if (!document) throw new CliFailure("no_daemon", "no daemon is running", "sluice up starts it");
	// From here on requests are retried: a daemon that goes away may come back.
	for (; ; document = await io.ask("scheduler.status")) {
		const said = JSON.stringify(document);
		const lines = io.json ? [said] : statusLines(document as StatusDocument, io);
		if (live) io.world.stdout.write(`\u001b[H\u001b[J${tame(lines.join("\n"), "keep")}\n`);
		else if (said !== last) for (const line of lines) io.print.out(line);
		last = said;
		await new Promise<void>((resolve) => io.world.after(EVERY_MS, resolve));
	}
}

export function statusLines(status: StatusDocument, { print, world }: Io): string[] {
	const { paint } = print;
	const now = world.now();
	const ago = (value: unknown) => {
		const at = instantOf(value);
		return at === undefined ? "" : relative(at, now);
	};
	const cap = status.max_concurrent > 0 ? ` of ${status.max_concurrent}` : " (no cap)";
	const frozen = status.frozen ?? [];
	const lines = [
		`Queued: ${status.queued_total} total, ${status.queued_ready} ready${heldCount(status)}`,
		`Running: ${paint(status.running > 0 ? "cyan" : "dim", `${slotsUsed(status)}${cap}`)}${lendingWords(status)}`,
	];
	if (status.paused) {
		const what = `Paused${frozen.length > 0 ? " and frozen" : ""}`;
		lines.push(paint("yellow", `${what}: by ${plain(status.paused_by)}, ${ago(status.paused_at)}${kernelGoesOn(status)}`));
	}
	if (frozen.length > 0) lines.push(cut(paint("yellow", `Frozen: ${counted(frozen.length, "run")}, of ${jobsWords(frozen)}`), print.width));
	lines.push(...kernelLine(status));
	lines.push(...heldLines(status).map((line) => cut(paint("yellow", withLocalTimes(line, now)), print.width)));
	if (status.config_problem) lines.push(paint("red", `Not in force: ${printable(status.config_problem)}`));
	if (status.disk_problem) lines.push(paint("red", `Disk: ${printable(status.disk_problem)}`));
	if (typeof status.http_port === "number") {
		const address = `Dashboard: ${addressOf(status.http_port)}`;
		lines.push(status.http_problem ? paint("yellow", `${address} (${printable(status.http_problem)})`) : address);
	} else if (status.http_problem) lines.push(paint("yellow", `No HTTP: ${printable(status.http_problem)}`));
	if (status.backpressure) lines.push(paint("yellow", `Backpressure: ${printable(status.backpressure)}`));
	if (status.last_dispatch_at) lines.push(`Last start: ${ago(status.last_dispatch_at)}`);
	for (const { job, name, agent, question, denied = [], since } of status.needs_human ?? []) {
		const what = question === null ? "needs approval" : `asks: ${printable(question)}`;
		const grant = denied.length === 0 ? "" : `; ${grantAdvice({ id: job, agent, denied })}`;
		const then = question === null ? `sluice approve ${job}` : `sluice answer ${job} TEXT${grant}`;
		lines.push(
			cut(paint("yellow", `Needs you: ${labelOf({ id: job, name })} ${what}`), print.width),
			paint("dim", `  since ${ago(since)} → ${then}`),
		);
	}
	for (const { job, name, merge_status, uncommitted, message, since, more } of grouped(status.unmerged ?? [])) {
		const who = `${labelOf({ id: job, name })}${more > 0 ? ` and ${more} more` : ""}`;
		const short = unmergedWords({ status: "succeeded", merge_status, merge_report: { uncommitted } });
		const said = message === null ? "" : printable(message.replace(/^verify failed: /, ""));
		const what = merge_status === "base_dirty" && said !== "" ? `not merged yet: ${said}` : [short, said].filter(Boolean).join(", ");
		lines.push(cut(paint("yellow", `Needs you: ${who} ${what}`), print.width), paint("dim", `  since ${ago(since)} → sluice why ${job}`));
	}
	lines.push(...deniedLines(status, print));
	const failures = failureWords(status);
	if (failures !== "") lines.push(paint("red", failures));
	for (const { reserved, over_limit, refills_at, ...budget } of status.budgets ?? []) {
		const more = [reserved > 0 && "some of it set aside by what runs", refills_at && `begins anew ${ago(refills_at)}`].filter(Boolean);
		const words = `Budget: ${printable(budgetWords(budget))}${more.length > 0 ? `, ${more.join(", ")}` : ""}`;
		lines.push(paint(over_limit ? "red" : "yellow", words));
	}
	const dim = (text: string) => paint("dim", text);
	const lanes = Object.entries(status.lanes).map(([name, lane]) => [
		printable(name),
		String(lane.queued),
		String(lane.running),
		lane.max === null ? "–" : String(lane.max),
		lane.max === null || lane.max === 0 ? "" : paint("cyan", gauge(slotsUsed(lane), lane.max)),
	]);
	const count = { align: "right" } as const;
	const laneColumns = [
		{ title: "LANE", shrink: 8 },
		{ title: "QUEUED", ...count },
		{ title: "RUNNING", ...count },
		{ title: "MAX", ...count },
		{ title: "" },
	];
	if (lanes.length > 0) lines.push("", ...table(laneColumns, lanes, print.width, dim));
	const holds = status.holds.map((hold) => [
		printable(hold.scope),
		paint("yellow", hold.kind.replaceAll("_", " ")),
		ago(hold.since),
		hold.until === null ? "" : ago(hold.until),
		printable(hold.by),
		printable(hold.reason),
	]);
	const holdColumns = [
		{ title: "HOLD", shrink: 8 },
		{ title: "KIND" },
		{ title: "SINCE" },
		{ title: "ENDS" },
		{ title: "BY", shrink: 5 },
		{ title: "REASON", shrink: 10 },
	];
	if (holds.length > 0) lines.push("", ...table(holdColumns, holds, print.width, dim));
	const hosts = status.hosts.map((host) => [
		printable(host.name),
		host.state === "live" ? host.state : paint("yellow", host.state),
		// An older daemon does not send it.
		String(host.running ?? ""),
		String(host.max ?? "–"),
		plain(host.labels),
		ago(host.heartbeat_at),
	]);
	const hostColumns = [
		{ title: "HOST", shrink: 8 },
		{ title: "STATE" },
		{ title: "RUNNING", ...count },
		{ title: "MAX", ...count },
		{ title: "LABELS", shrink: 8 },
		{ title: "SEEN" },
	];
	if (hosts.length > 0) lines.push("", ...table(hostColumns, hosts, print.width, dim));
	return lines;
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

const NAMED = 10;
const jobsWords = (ids: readonly number[]): string =>
	`${ids.length === 1 ? "job" : "jobs"} ${ids.slice(0, NAMED).join(", ")}${ids.length > NAMED ? " …" : ""}`;

/** `3 queued, 2 ready, 1 of them held` */
export const queuedWords = (status: StatusDocument): string =>
	`${status.queued_total} queued, ${status.queued_ready} ready${heldCount(status)}`;

const HELD = 5;

/** What keeps ready jobs from starting. A pause of everything has its own line. An older daemon does not send it. */
function heldLines({ held = [] }: Partial<StatusDocument>): string[] {
	const told = held.filter(({ subject }) => subject !== "all");
	const lines = told.slice(0, HELD).map(({ detail, jobs }) => `Held: ${counted(jobs, "job")}, ${printable(detail)}`);
	const rest = told.slice(HELD).reduce((sum, { jobs }) => sum + jobs, 0);
	return rest === 0 ? lines : [...lines, `Held: ${counted(rest, "job")} for other reasons; sluice why ID tells`];
}

/** `███░░` */
export function gauge(used: number, max: number, columns = 10): string {
	const width = Math.min(columns, max);
	const full = Math.min(width, Math.ceil((used / max) * width));
	return "█".repeat(full) + "░".repeat(width - full);
}
