// Notifies people: a batch is done, a job has failed for good, a person is needed, a limit, a budget. Best effort: a failure is logged and has no other
// consequence.

import { spawn } from "node:child_process";
import type { Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import { everyJob } from "../../contracts/queue.ts";
import type { EventRow, JobView, Scheduler } from "../../contracts/scheduler.ts";
import { messageOf } from "../../core/errors.ts";
import type { EventOf } from "../../core/event.ts";
import { usedWords } from "../../core/ledger.ts";
import type { NotifyOn, NotifySettings } from "../config/settings.ts";

const LONGEST_MS = 30_000;

type Notice = {
	schema_version: 1;
	kind: NotifyOn;
	title: string;
	text: string;
	job: number | null;
	batch: string | null;
	at: string;
	data: Record<string, unknown>;
};

export type NotifyParts = {
	scheduler: Pick<Scheduler, "watch" | "show" | "list" | "batches">;
	settings: () => readonly NotifySettings[];
	host: Pick<Host, "after">;
	log: Log;
	env: () => Record<string, string>;
	cwd: string;
};

/** Returns a function that ends it. */
export function startNotify(parts: NotifyParts): () => void {
	const batches = watchBatches(parts);
	const unwatch = parts.scheduler.watch(({ events }) => {
		if (parts.settings().length === 0) return;
		for (const event of events) {
			if (event.kind === "batch_closed") batches.closed(event);
			for (const [on, words] of noticesOf(event)) {
				const wanted = wantedBy(parts, on);
				if (wanted.length > 0) void notify(parts, wanted, { on, event, words });
			}
		}
	});
	return () => {
		unwatch();
		batches.end();
	};
}

const wantedBy = ({ settings }: NotifyParts, kind: NotifyOn) => settings().filter(({ on }) => on.includes(kind));

/**
 * A batch closes whenever its last open job ends, so a batch that is filled job by job closes repeatedly. Its notification therefore waits for QUIET_MS: each
 * further close restarts the wait, and a batch that is open when the wait ends is reported after its next close.
 */
const QUIET_MS = 5000;

function watchBatches(parts: NotifyParts) {
	const waiting = new Map<string, { cancel: () => void; notify: () => Promise<void> }>();
	return {
		closed(event: EventOf<"batch_closed">): void {
			const wanted = wantedBy(parts, "batch_done");
			const { batch, total } = event.data;
			waiting.get(batch)?.cancel();
			waiting.delete(batch);
			if (wanted.length === 0) return;
			const notifyNow = async () => {
				waiting.delete(batch);
				const end = await endOf(parts, batch).catch((): BatchEnd => ({}));
				if (end === null) return;
				const data = { total, ...end };
				await notify(parts, wanted, { on: "batch_done", event, words: () => [`Batch ${batch} is done`, batchWords(data)], data });
			};
			waiting.set(batch, { cancel: parts.host.after(QUIET_MS, () => void notifyNow()), notify: notifyNow });
		},
		/** Sends waiting notifications now, as far as that is still possible. */
		end(): void {
			for (const one of [...waiting.values()]) {
				one.cancel();
				void one.notify();
			}
		},
	};
}

const NOT_WELL = ["failed", "expired", "blocked_by_dependency", "cancelled"] as const;

type BatchEnd = { total?: number; counts?: Record<string, number> };

/** The number of jobs of the batch, and the unsuccessful ones by their end; null when the batch is open again. */
async function endOf({ scheduler }: NotifyParts, batch: string): Promise<BatchEnd | null> {
	const found = (await scheduler.batches()).find(({ name }) => name === batch);
	if (found && (found.open > 0 || found.owned)) return null;
	const counts: Record<string, number> = {};
	for await (const { status } of everyJob(scheduler, { batch, all: true, status: [...NOT_WELL] }))
		counts[status] = (counts[status] ?? 0) + 1;
	return { ...(found ? { total: found.total } : {}), counts };
}

/** `3 jobs: 1 failed, 1 blocked`; without `counts`, how they ended is not known. */
function batchWords({ total, counts }: BatchEnd): string {
	const jobs = `${total} job${total === 1 ? "" : "s"}`;
	if (counts === undefined) return jobs;
	const parts = NOT_WELL.flatMap((status) =>
		counts[status] ? [`${counts[status]} ${status === "blocked_by_dependency" ? "blocked" : status}`] : [],
	);
	return parts.length > 0 ? `${jobs}: ${parts.join(", ")}` : `${jobs}, all succeeded`;
}

/** Title and text. `who`: the event's job. */
type Words = (who: string, view: JobView | null) => [title: string, text: string];

/** The notifications that an event causes; batches are handled by `watchBatches`. */
function noticesOf(event: EventRow): [on: NotifyOn, words: Words][] {
	switch (event.kind) {
		case "ended": {
			const { to, end_reason, exit_kind } = event.data;
			const found: [NotifyOn, Words][] = [];
			if (to === "failed" || to === "expired") found.push(["job_failed", (who) => [`${who} has failed`, end_reason ?? exit_kind ?? to]]);
			if (to === "succeeded") found.push(["job_succeeded", (who, view) => [`${who} has succeeded`, view?.spec.title ?? ""]]);
			found.push(["job_ended", (who) => [`${who} has ended: ${to.replaceAll("_", " ")}`, end_reason ?? ""]]);
			return found;
		}
		case "requeued": {
			const { exit_kind, message } = event.data;
			if (exit_kind !== "needs_human") return [];
			return [["needs_human", (who, view) => [`${who} needs a person`, view?.question ?? message ?? ""]]];
		}
		case "account_closed": {
			const { account, reason } = event.data;
			return [["needs_human", () => [`Account ${account} needs a person`, reason]]];
		}
		case "approval_asked":
			return [["needs_human", (who) => [`${who} needs approval`, `sluice approve ${event.job}, or sluice reject ${event.job}`]]];
		case "merge": {
			const { merge_status, uncommitted, follow_up, message } = event.data;
			const isStuck = merge_status === "conflict" || merge_status === "verify_failed" || uncommitted === true;
			// If the job runs again because of the conflict, no person is needed yet.
			if (!isStuck || follow_up === true) return [];
			const why = uncommitted === true ? "uncommitted work" : merge_status === "conflict" ? "conflict" : "verify failed";
			return [["needs_human", (who) => [`${who} is not merged: ${why}`, message ?? ""]]];
		}
		case "limited": {
			const { account, until } = event.data;
			return [["limit", () => [`Account ${account} is limited`, `until ${new Date(until).toISOString()}`]]];
		}
		case "outage": {
			const { account, reason, hits } = event.data;
			// Only the first hit of an outage is reported.
			return hits === 1 ? [["limit", () => [`The provider of account ${account} is down`, reason]]] : [];
		}
		case "budget_warned":
		case "budget_breached": {
			const { subject, dim, used, limit } = event.data;
			const how = event.kind === "budget_breached" ? "has used up" : "is near the end of";
			const words = dim === "cost_micro" ? usedWords(used, Number(limit), dim) : `${used} of ${limit}`;
			return [["budget", () => [`${subject} ${how} its ${dim}`, words]]];
		}
		default:
			return [];
	}
}

type Occasion = { on: NotifyOn; event: EventRow; words: Words; data?: BatchEnd };

async function notify(parts: NotifyParts, wanted: readonly NotifySettings[], { on, event, words, data }: Occasion): Promise<void> {
	const { job } = event;
	const view = job === null ? null : await parts.scheduler.show(job).catch(() => null);
	const name = view?.name ?? view?.spec.title ?? (job === null ? "" : `job ${job}`);
	const who = name === `job ${job}` || job === null ? name : `job ${job} (${name})`;
	const [title, text] = words(who, view);
	const batch = event.kind === "batch_closed" ? event.data.batch : (view?.batch ?? null);
	const at = new Date(event.at).toISOString();
	const notice: Notice = { schema_version: 1, kind: on, title, text, job, batch, at, data: { ...event.data, ...data } };
	for (const one of wanted) void deliver(parts, one, notice);
}

async function deliver(parts: NotifyParts, to: NotifySettings, notice: Notice): Promise<void> {
	try {
		if (to.kind === "webhook") await post(to.url, notice);
		else await run(parts, to.kind === "command" ? to.command : desktopCommand(notice), notice);
	} catch (error) {
		parts.log.warn("a notice could not be given", { kind: notice.kind, by: to.kind, error: messageOf(error) });
	}
}

/** Title and text are passed as arguments on either system, never as part of a script. */
const desktopCommand = ({ title, text }: Notice): string[] =>
	process.platform === "darwin"
		? [
				"osascript",
				"-e",
				"on run words",
				"-e",
				"display notification (item 2 of words) with title (item 1 of words)",
				"-e",
				"end run",
				title,
				text,
			]
		: ["notify-send", "--app-name=sluice", "--", title, text];

async function post(url: string, notice: Notice): Promise<void> {
	const answer = await fetch(url, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify(notice),
		redirect: "manual",
		signal: AbortSignal.timeout(LONGEST_MS),
	});
	await answer.body?.cancel();
	if (answer.status >= 300) throw new Error(`it answered ${answer.status}`);
}

function run({ host, env, cwd }: NotifyParts, argv: readonly string[], notice: Notice): Promise<void> {
	return new Promise((resolve, reject) => {
		const [program = "", ...args] = argv;
		const more = {
			SLUICE_NOTICE: notice.kind,
			SLUICE_TITLE: notice.title,
			SLUICE_TEXT: notice.text,
			...(notice.job === null ? {} : { SLUICE_JOB: String(notice.job) }),
			...(notice.batch === null ? {} : { SLUICE_BATCH: notice.batch }),
		};
		const child = spawn(program, args, { cwd, env: { ...env(), ...more }, stdio: ["pipe", "ignore", "ignore"] });
		child.stdin.on("error", () => {});
		child.stdin.end(JSON.stringify(notice));
		const cancel = host.after(LONGEST_MS, () => child.kill("SIGKILL"));
		child.on("error", (error) => {
			cancel();
			reject(error);
		});
		child.on("close", (code, signal) => {
			cancel();
			if (code === 0) resolve();
			else reject(new Error(`${program} ended with ${code ?? signal}`));
		});
	});
}
