// Runs of other hosts: what this host stores of its own runs for other hosts, how it answers their questions, and how it reads their runs.
//
//   a run       is read                                                otherwise
//   ended       from its stored output, if that has the wanted part    from its host; if that does not answer, the stored output, with a gap
//   live        from its host                                          from the stored output: the run has ended meanwhile

import type { Elsewhere } from "../../api/context.ts";
import type { Disk } from "../../contracts/disk.ts";
import { troubleOf } from "../../contracts/disk.ts";
import type { Clock, Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import type { KeptPatch, OutputRequest, Outputs, RunOutput } from "../../contracts/output.ts";
import type { WorktreeView } from "../../contracts/workspace.ts";
import { type Segment, segmentLine } from "../../core/text/output-order.ts";
import type { LogPart, LogRange } from "../../supervisor/index.ts";
import type { Work } from "../../workspaces/index.ts";
import { isKept, keepLog, pack, readKept, unpack } from "./kept-log.ts";

export type ElsewhereParts = {
	outputs: Outputs;
	logs: (job: number, options: LogRange) => LogPart | null;
	orderOf: (job: number, attempt: number) => Segment[];
	work: Pick<Work, "diff" | "place" | "worktrees">;
	disk: Disk;
	clock: Clock;
	host: Pick<Host, "after" | "turn">;
	log: Log;
	/** Folder of all run folders. */
	runs: string;
	name: string;
	/** Whether a host can be expected to answer. */
	isThere: (host: string) => Promise<boolean>;
	/** How many bytes of the end of each log are stored. */
	keptBytes: () => number;
};

/** An answer travels through the store as one record. */
const MOST_BYTES = 256 * 1024;
const MOST_TOLD = 64 * 1024;
const MOST_PATCH = 1_000_000;
const MOST_ORDER = 64 * 1024;
/** The asking host waits this much longer than the answering host may hold the question. */
const ROUND_MS = 5_000;
/** The longest time that the answering host holds a question open. */
const HOLD_MS = 10_000;
const SILENT_MS = 10_000;
const LOOK_MS = 150;
/** After a restart, looks for runs that ended within this time and may not have been stored yet. */
const LATELY_MS = 86_400_000;
const MOST_LATE = 500;

export function createRemoteRuns(parts: ElsewhereParts) {
	const { outputs, disk, clock, host, log, runs, name } = parts;
	const folder = (job: number, attempt: number) => `${runs}/${job}/${attempt}`;

	// ---- for other hosts ------------------------------------------------------------------------------------------------------------

	async function keep({ job, attempt }: { job: number; attempt: number }): Promise<void> {
		const bytes = parts.keptBytes();
		if (bytes === 0) return;
		const dir = folder(job, attempt);
		const worktree = parts.work.worktrees().find((one) => one.job === job);
		const output: RunOutput = {
			version: 1,
			run: `${job}.${attempt}`,
			host: name,
			kept_at: clock.now(),
			output: parts.logs(job, { attempt, limit: 4 })?.output ?? "command",
			outcome: accountIn(disk.read(`${dir}/outcome.json`)),
			stdout: keepLog(disk, `${dir}/stdout.log`, bytes),
			stderr: keepLog(disk, `${dir}/stderr.log`, bytes),
			...orderIn(parts.orderOf(job, attempt)),
			patch: patchIn(disk, `${dir}/output.patch`, bytes),
			place: worktree ? { path: worktree.path, branch: worktree.branch, base_branch: worktree.base_branch } : null,
		};
		await outputs.keep(job, attempt, output);
	}

	const keepSoon = (run: { job: number; attempt: number }): void =>
		void keep(run).catch((error) =>
			log.warn("a run could not be kept for other hosts", { run: `${run.job}.${run.attempt}`, error: troubleOf(error) }),
		);

	/** Stores outputs that are missing because the daemon crashed between a run's end and storing its output. */
	async function backfill(): Promise<void> {
		const since = clock.now() - LATELY_MS;
		const late = disk
			.list(runs)
			.filter((job) => /^[1-9]\d{0,14}$/.test(job) && (disk.changedAt(`${runs}/${job}`) ?? 0) > since)
			.flatMap((job) => disk.list(`${runs}/${job}`).map((attempt) => ({ job: Number(job), attempt: Number(attempt) })))
			.filter(
				({ job, attempt }) =>
					attempt > 0 && ["run.json", "outcome.json"].every((file) => disk.size(`${folder(job, attempt)}/${file}`) !== null),
			)
			.slice(-MOST_LATE);
		for (const run of await outputs.missing(late)) {
			await keep(run);
			await host.turn();
		}
	}

	/** Fetches what the prompt of a later run needs: the outcome and the end of each log. The agent's session stays on the other host. */
	async function fetchPriorRun({ job, attempt }: { job: number; attempt: number }): Promise<void> {
		try {
			const kept = await outputs.read(job, attempt);
			if (!kept?.outcome || kept.host === name) return;
			const dir = folder(job, attempt);
			disk.makeFolder(dir);
			for (const stream of ["stdout", "stderr"] as const) {
				const last = kept[stream].parts.at(-1);
				if (last) disk.write(`${dir}/${stream}.log`, new TextDecoder().decode(unpack(last.packed).slice(-MOST_TOLD)));
			}
			disk.write(`${dir}/outcome.json`, `${JSON.stringify({ ...kept.outcome, session_gone: true, elsewhere: kept.host })}\n`);
		} catch (error) {
			log.warn("what another host has kept of a run cannot be had", { run: `${job}.${attempt}`, error: troubleOf(error) });
		}
	}

	async function answer(question: OutputRequest): Promise<unknown> {
		if (question.what === "diff") return parts.work.diff(question.job, question.attempt);
		if (question.what === "place") return { worktree: await parts.work.place(question.job) };
		const { job, attempt, stream, offset, tail, limit, wait_ms } = question;
		const from = tail === undefined ? { offset } : { tail };
		const until = clock.monotonic() + Math.min(wait_ms, HOLD_MS);
		for (;;) {
			// Let pending file notifications be handled first: they determine the order of writes in the log.
			await host.turn();
			const piece = parts.logs(job, { attempt, stream, ...from, limit: Math.min(limit, MOST_BYTES) });
			if (piece === null || piece.text !== "" || piece.ended || clock.monotonic() >= until) return piece;
			await new Promise<void>((resolve) => host.after(LOOK_MS, resolve, "hold"));
		}
	}

	// ---- of other hosts -------------------------------------------------------------------------------------------------------------

	/** Hosts that did not answer just now, so that a reader of a long log does not wait for them again and again. */
	const silent = new Map<string, number>();

	async function inquire(to: string, question: OutputRequest, waitMs = 0): Promise<unknown> {
		if ((silent.get(to) ?? 0) > clock.monotonic() || !(await parts.isThere(to))) return null;
		const began = clock.monotonic();
		const found = await outputs.inquire(to, question, waitMs + ROUND_MS);
		if (found === null && clock.monotonic() - began >= waitMs + ROUND_MS) silent.set(to, clock.monotonic() + SILENT_MS);
		else silent.delete(to);
		return found;
	}

	async function owner(job: number, attempt: number): Promise<string | null> {
		const found = await outputs.ranOn(job, attempt);
		return found === name ? null : found;
	}

	const elsewhere: Elsewhere = {
		async logs(job, attempt, { stream, offset = 0, tail, limit = MOST_BYTES, wait_ms }) {
			const from = await owner(job, attempt);
			if (from === null) return null;
			const kept = await outputs.read(job, attempt);
			const part = Math.min(limit, MOST_BYTES);
			const wish = { offset, tail, limit: part };
			const whole = kept !== null && isKept(kept, stream, wish);
			const asked = {
				...{ what: "log" as const, job, attempt, stream, offset, limit: part, wait_ms: Math.min(wait_ms, HOLD_MS) },
				...(tail === undefined ? {} : { tail }),
			};
			const piece = whole ? null : ((await inquire(from, asked, asked.wait_ms)) as LogPart | null);
			if (piece) return { ...piece, host: from };
			// The run may have ended while its host was asked.
			const then = kept ?? (await outputs.read(job, attempt));
			const read = then && readKept(then, stream, wish);
			return then && read ? { run: then.run, stream, ...read, ended: true, output: then.output, host: from } : null;
		},
		async diff(job, attempt) {
			const from = await owner(job, attempt);
			if (from === null) return null;
			const kept = await outputs.read(job, attempt);
			const found = (await inquire(from, { what: "diff", job, attempt })) as {
				patch: string;
				from: "worktree" | "run";
			} | null;
			if (found) return { ...found, host: from };
			const packed = kept?.patch?.packed;
			return packed ? { patch: new TextDecoder().decode(unpack(packed)), from: "run", host: from } : null;
		},
		async place(job, attempt) {
			const from = await owner(job, attempt);
			if (from === null) return null;
			const answer = (await inquire(from, { what: "place", job })) as { worktree: WorktreeView | null } | null;
			const found = answer?.worktree;
			if (found) return { host: from, path: found.path, branch: found.branch, base_branch: found.base_branch, there: found.there };
			const kept = (await outputs.read(job, attempt))?.place;
			return kept ? { host: from, ...kept, there: answer === null ? null : false } : null;
		},
		async outcome(job, attempt) {
			const kept = await outputs.read(job, attempt);
			return kept?.outcome ? { host: kept.host, outcome: kept.outcome } : null;
		},
	};

	return { elsewhere, keepSoon, makeUp: backfill, bring: fetchPriorRun, answer };
}

function accountIn(text: string | null): Record<string, unknown> | null {
	try {
		const found: unknown = JSON.parse(text ?? "null");
		return typeof found === "object" ? (found as Record<string, unknown> | null) : null;
	} catch {
		return null;
	}
}

/** The order of writes, only if both streams were used and the run did not switch between them too often. */
function orderIn(segments: readonly Segment[]): { order?: string } {
	const text = segments.slice(0, -1).map(segmentLine).join("");
	return text === "" || text.length > MOST_ORDER ? {} : { order: text };
}

/** The size of the patch and the number of changed lines; its text only if it is not long. */
function patchIn(disk: Disk, path: string, bytes: number): KeptPatch | null {
	const size = disk.size(path);
	if (size === null) return null;
	const text = size > MOST_PATCH ? null : disk.read(path);
	const count = (pattern: RegExp) => text?.match(pattern)?.length ?? 0;
	return {
		size,
		files: count(/^diff --git /gm),
		added: count(/^\+(?!\+\+ )/gm),
		removed: count(/^-(?!-- )/gm),
		packed: text !== null && size <= bytes ? pack(Buffer.from(text)) : null,
	};
}
