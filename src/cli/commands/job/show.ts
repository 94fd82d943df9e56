// sluice show: everything known of a job, the most important first.

import { grantWords } from "../../../core/agents/permissions/denied.ts";
import { mergeWords } from "../../../core/job.ts";
import { dollars } from "../../../core/ledger.ts";
import { retriesUsed } from "../../../core/runs/retry.ts";
import { mayAddWords } from "../../../core/trust/run-bounds.ts";
import type { Call } from "../../command.ts";
import { usage } from "../../failure.ts";
import { answer, type Io, idOf } from "../../io.ts";
import { noteAttempt } from "../../printing/attempt-note.ts";
import { cellOf, hasEnded, isWaiting, remark, type ShownJob, shellWord, statusWords, tookOf } from "../../printing/job-lines.ts";
import { withLockWords } from "../../printing/lock-words.ts";
import { paintStatus, pairs, plain } from "../../printing/print.ts";
import { doingWords } from "../../printing/progress-words.ts";
import { printable } from "../../printing/sequences.ts";
import { bounded, wrap } from "../../printing/table.ts";
import { durationWords, instantOf, localTime, momentWords } from "../../times.ts";
import { fieldsOf, wantedFields } from "./list.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	if (call.flag("outcome")) return outcome(call, io);
	if (call.number("run") !== undefined) throw usage("--run needs --outcome", "logs --run N shows what that run has written");
	const document = await io.ask("job.show", { id: idOf(call.arg("ID")) });
	const [job = document.job]: ShownJob[] = io.json ? [] : await withLockWords(io, [document.job]);
	const wanted = await wantedFields(call, io, "show");
	const fields = wanted && fieldsOf(wanted, [job], []);
	answer(io, document, () => {
		const { print, world } = io;
		if (fields) {
			for (const line of pairs(
				fields.map((field) => [field, bounded(cellOf(field, job, print.paint, world.now()).trim(), print.width)] as const),
				print.paint,
			))
				print.out(line);
			return;
		}
		print.out(`${print.paint("bold", `job ${job.id}${job.name ? ` ${printable(job.name)}` : ""}`)}  ${headline(job, io)}`);
		const rows = rowsOf(job, world.now()).map(([name, value]) => [name, bounded(value, print.width)] as const);
		for (const line of pairs(rows, print.paint)) print.out(line);
		if (job.prompt) printText(io, "prompt", job.prompt);
	});
}

async function outcome(call: Call, io: Io): Promise<undefined> {
	const run = call.number("run");
	if (call.text("fields") !== undefined) throw usage("--fields and --outcome contradict each other", "give one of them");
	const document = await io.ask("job.outcome", { id: idOf(call.arg("ID")), run });
	if (run === undefined) await noteAttempt(io, idOf(call.arg("ID")));
	answer(io, document, () => {
		const { version: _version, last_message, ...rest } = document.outcome;
		const host = document.host === null ? {} : { host: document.host };
		const rows = Object.entries({ ...rest, ...host }).flatMap(([key, value]) => {
			const text = /_at$/.test(key) && typeof value === "number" ? localTime(value) : plain(value);
			return text === "" ? [] : [[key.replaceAll("_", " "), text] as const];
		});
		for (const line of pairs(rows, io.print.paint)) io.print.out(line);
		if (typeof last_message === "string" && last_message !== "") printText(io, "last message", last_message);
	});
}

export function headline(job: ShownJob, { print, world }: Io): string {
	const said = remark(job, world.now());
	const joint = job.status === "running" || job.status === "succeeded" ? " " : ", ";
	return `${paintStatus(print.paint, job.status, statusWords(job.status))}${said ? print.paint("dim", `${joint}${said}`) : ""}`;
}

function printText({ print }: Io, title: string, text: string): void {
	print.out(print.paint("dim", title));
	const lines = text
		.trimEnd()
		.split("\n")
		.flatMap((line) => wrap(printable(line), Math.min(print.width, 120) - 2));
	for (const line of lines.slice(0, 40)) print.out(`  ${line}`);
	if (lines.length > 40) print.out(print.paint("dim", `  … ${lines.length - 40} more lines; --json has them all`));
}

const usageWords = (used: Record<string, number>): string =>
	Object.entries(used)
		.map(([dim, amount]) => (dim === "cost_micro" ? dollars(amount) : `${amount} ${printable(dim)}`))
		.join(", ");

/** What people told its agent, and which run got it. */
const toldWords = ({ told = [] }: ShownJob): string =>
	told
		.map(({ text, by, attempt }) => `${attempt === null ? "to be told" : `run ${attempt}`}: ${printable(text)} (${printable(by)})`)
		.join("; ");

const ms = (value: number | null | undefined) => (typeof value === "number" ? durationWords(value) : "");

/** Names and values; empty ones are left out. */
function rowsOf(job: ShownJob, now: number): [string, string][] {
	const when = (value: unknown) => momentWords(value, now);
	const runnable = instantOf(job.runnable_at) ?? 0;
	return [
		["title", plain(job.title)],
		["command", printable((job.command ?? []).map(shellWord).join(" "))],
		["agent", [job.agent, job.model, job.permission && `permission ${job.permission}`].filter(Boolean).map(plain).join(", ")],
		["its runs", plain(mayAddWords(job))],
		["allowed", plain(job.allow)],
		["granted", job.granted ? [job.granted.permission, ...grantWords(job.granted.allow)].filter(Boolean).map(plain).join("; ") : ""],
		["expects", job.expect === "change" ? "a change" : job.expect === "none" ? "no change: its last words do not count as a question" : ""],
		["args", plain(job.args)],
		["payload", plain(job.payload)],
		["folder", plain(job.cwd)],
		[
			"repo",
			[job.repo, job.base_branch && `from ${job.base_branch}`, job.worktree && `branch ${job.worktree}`]
				.filter(Boolean)
				.map(plain)
				.join(", "),
		],
		["merge", plain(job.no_merge ? "no" : [job.merge, mergeWords(job), job.merge_report?.message].filter(Boolean))],
		["lane", `${plain(job.lane)}${job.priority ? `, priority ${job.priority}` : ""}`],
		["after", (job.after ?? []).map((edge) => `${edge.job}${edge.policy === "success" ? "" : `:${edge.policy}`}`).join(", ")],
		["parent", plain(job.parent)],
		["needs", plain(job.needs)],
		["produces", plain(job.produces)],
		["pinned to", job.pinned_head ? `${printable(job.pinned_head.branch)} at ${printable(job.pinned_head.commit.slice(0, 12))}` : ""],
		["waited on", plain(job.waited_on)],
		["locks", (job.locks ?? []).map((lock) => `${printable(lock.key)}${lock.mode === "shared" ? " (shared)" : ""}`).join(", ")],
		[
			"uses",
			Object.entries(job.uses ?? {})
				.map(([name, count]) => `${printable(name)}:${count}`)
				.join(", "),
		],
		["item", job.item ? `${plain(job.source)}:${plain(job.item)}${job.phase ? `, phase ${plain(job.phase)}` : ""}` : ""],
		["batch", plain(job.batch)],
		["owner", plain(job.owner)],
		["account", plain(job.run?.account ?? job.account)],
		["hosts", plain(job.host_labels)],
		["held", job.hold ? plain(`by ${job.hold.by} since ${when(job.hold.since)}${job.hold.reason ? `: ${job.hold.reason}` : ""}`) : ""],
		["approval", plain(job.approval)],
		["question", plain(job.question)],
		["was asked", plain(job.asked)],
		["answer", plain(job.answer)],
		["told", toldWords(job)],
		["verdict", job.verdict ? plain([job.verdict.verdict, job.verdict.text].filter(Boolean).join(": ")) : ""],
		["result", plain(job.result)],
		["not allowed", (job.denied ?? []).map(plain).join("; ")],
		["last words ask", plain(job.closing_question)],
		["used", usageWords(job.usage ?? {})],
		["timeout", ms(job.timeout)],
		["retries", job.retry && job.retry.max > 0 ? `${retriesUsed(job)} of ${job.retry.max} used` : ""],
		["last failure", plain(job.last_failure)],
		[
			"exit",
			hasEnded(job)
				? [job.exit_kind?.replaceAll("_", " "), typeof job.exit_code === "number" && `code ${job.exit_code}`].filter(Boolean).join(", ")
				: "",
		],
		["run", job.run ? `${job.run.id} on ${plain(job.run.host ?? job.run.worker)}${job.run.pid ? `, pid ${job.run.pid}` : ""}` : ""],
		["frozen", frozenWords(job, when)],
		["waits for", (job.waits_for ?? []).join(", ")],
		["doing", doingWords(job.run?.progress)],
		["session", plain(job.session)],
		["took", tookOf(job)],
		["added", when(job.created_at)],
		["starts", isWaiting(job) && runnable > now ? when(job.runnable_at) : ""],
		["deadline", when(job.deadline)],
		["started", when(job.started_at)],
		["ended", when(job.ended_at)],
	];
}

function frozenWords({ id, run }: ShownJob, when: (value: unknown) => string): string {
	if (!run?.frozen) return "";
	if (!run.frozen_by) return "yes: it goes on after sluice resume";
	const { by, since, reason } = run.frozen_by;
	return plain(`by ${by} since ${when(since)}${reason ? `: ${reason}` : ""}; it goes on after sluice thaw ${id}`);
}
