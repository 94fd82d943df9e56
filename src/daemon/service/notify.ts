// Notifies people: a batch is done, a job has failed for good, a person is needed, a limit, a budget. Best effort: a failure is logged and has no other
// consequence.

import { spawn } from "node:child_process";
import type { Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import type { EventRow, JobView, Scheduler } from "../../contracts/scheduler.ts";
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
			for (const kind of kindsOf(event)) {
				const wanted = wantedBy(parts, kind);
				if (wanted.length > 0) void tell(parts, kind, event, wanted);
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
	const waiting = new Map<string, { cancel: () => void; tell: () => Promise<void> }>();
	return {
		closed(event: EventRow): void {
			const wanted = wantedBy(parts, "batch_done");
			const batch = String(event.data.batch);
			waiting.get(batch)?.cancel();
			waiting.delete(batch);
			if (wanted.length === 0) return;
			const tellNow = async () => {
				waiting.delete(batch);
				const data = await endOf(parts, batch).catch(() => ({}));
				if (data !== null) await tell(parts, "batch_done", { ...event, data: { ...event.data, ...data } }, wanted);
			};
			waiting.set(batch, { cancel: parts.host.after(QUIET_MS, () => void tellNow()), tell: tellNow });
		},
		/** Sends waiting notifications now, as far as that is still possible. */
		end(): void {
			for (const one of [...waiting.values()]) {
				one.cancel();
				void one.tell();
			}
		},
	};
}

const NOT_WELL = ["failed", "expired", "blocked_by_dependency", "cancelled"] as const;
const PAGE = 1000;

/** The number of jobs of the batch, and the unsuccessful ones by their end; null when the batch is open again. */
async function endOf({ scheduler }: NotifyParts, batch: string): Promise<Record<string, unknown> | null> {
	const found = (await scheduler.batches()).find(({ name }) => name === batch);
	if (found && (found.open > 0 || found.owned)) return null;
	const counts: Record<string, number> = {};
	for (let after = 0; ; ) {
		const some = await scheduler.list({ batch, all: true, status: [...NOT_WELL], after, limit: PAGE });
		for (const { status } of some) counts[status] = (counts[status] ?? 0) + 1;
		const last = some.at(-1);
		if (last === undefined || some.length < PAGE) break;
		after = last.id;
	}
	return { ...(found ? { total: found.total } : {}), counts };
}

const ENDS: Record<(typeof NOT_WELL)[number], string> = {
	failed: "failed",
	expired: "expired",
	blocked_by_dependency: "blocked",
	cancelled: "cancelled",
};

/** `3 jobs: 1 failed, 1 blocked` */
function batchWords({ total, counts }: Record<string, unknown>): string {
	const jobs = `${total} job${total === 1 ? "" : "s"}`;
	const ends = (counts ?? {}) as Record<string, number>;
	const parts = NOT_WELL.flatMap((status) => (ends[status] ? [`${ends[status]} ${ENDS[status]}`] : []));
	return parts.length > 0 ? `${jobs}: ${parts.join(", ")}` : counts === undefined ? jobs : `${jobs}, all succeeded`;
}

/** The kinds of notification that an event causes; batches are handled by `watchBatches`. */
function kindsOf({ kind, data }: EventRow): NotifyOn[] {
	switch (kind) {
		case "ended":
			return [
				...(data.to === "failed" || data.to === "expired" ? (["job_failed"] as const) : []),
				...(data.to === "succeeded" ? (["job_succeeded"] as const) : []),
				"job_ended",
			];
		case "requeued":
			return data.exit_kind === "needs_human" ? ["needs_human"] : [];
		case "account_closed":
		case "approval_asked":
			return ["needs_human"];
		case "merge":
			// If the job runs again because of the conflict, no person is needed yet.
			return (data.merge_status === "conflict" || data.merge_status === "verify_failed" || data.uncommitted === true) &&
				data.follow_up !== true
				? ["needs_human"]
				: [];
		case "limited":
			return ["limit"];
		case "outage":
			// Only the first hit of an outage is reported.
			return data.hits === 1 ? ["limit"] : [];
		case "budget_warned":
		case "budget_breached":
			return ["budget"];
		default:
			return [];
	}
}

async function tell(parts: NotifyParts, kind: NotifyOn, event: EventRow, wanted: readonly NotifySettings[]): Promise<void> {
	const view = event.job === null ? null : await parts.scheduler.show(event.job).catch(() => null);
	const notice = noticeOf(kind, event, view);
	for (const one of wanted) void deliver(parts, one, notice);
}

function noticeOf(kind: NotifyOn, { job, at, data, kind: event }: EventRow, view: JobView | null): Notice {
	const name = view?.name ?? view?.spec.title ?? (job === null ? "" : `job ${job}`);
	const who = name === `job ${job}` || job === null ? name : `job ${job} (${name})`;
	const [title, text] = wordsOf();
	const batch = typeof data.batch === "string" ? data.batch : (view?.batch ?? null);
	return { schema_version: 1, kind, title, text, job, batch, at: new Date(at).toISOString(), data };

	function wordsOf(): [title: string, text: string] {
		switch (kind) {
			case "batch_done":
				return [`Batch ${data.batch} is done`, batchWords(data)];
			case "job_succeeded":
				return [`${who} has succeeded`, view?.spec.title ?? ""];
			case "job_ended":
				return [`${who} has ended: ${String(data.to).replaceAll("_", " ")}`, String(data.end_reason ?? "")];
			case "job_failed":
				return [`${who} has failed`, String(data.end_reason ?? data.exit_kind ?? data.to)];
			case "needs_human":
				return event === "account_closed"
					? [`Account ${data.account} needs a person`, String(data.reason ?? "")]
					: event === "approval_asked"
						? [`${who} needs approval`, `sluice approve ${job}, or sluice reject ${job}`]
						: event === "merge"
							? [`${who} is not merged: ${mergeWords(data)}`, String(data.message ?? "")]
							: [`${who} needs a person`, String(view?.question ?? data.message ?? "")];
			case "limit":
				if (event === "outage") return [`The provider of account ${data.account} is down`, String(data.reason ?? "")];
				return [`Account ${data.account} is limited`, typeof data.until === "number" ? `until ${new Date(data.until).toISOString()}` : ""];
			case "budget":
				return [
					`${data.subject} ${event === "budget_breached" ? "has used up" : "is near the end of"} its ${data.dim}`,
					data.dim === "cost_micro" ? usedWords(Number(data.used), Number(data.limit), data.dim) : `${data.used} of ${data.limit}`,
				];
		}
	}
}

const mergeWords = ({ merge_status, uncommitted }: Record<string, unknown>): string =>
	uncommitted === true ? "uncommitted work" : merge_status === "conflict" ? "conflict" : "verify failed";

async function deliver(parts: NotifyParts, to: NotifySettings, notice: Notice): Promise<void> {
	try {
		if (to.kind === "webhook") await post(to.url, notice);
		else await run(parts, to.kind === "command" ? to.command : desktopCommand(notice), notice);
	} catch (error) {
		parts.log.warn("a notice could not be given", {
			kind: notice.kind,
			by: to.kind,
			error: error instanceof Error ? error.message : String(error),
		});
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
