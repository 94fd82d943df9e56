// Runs of other hosts: what this host keeps of its own in the store for the others, how it answers them, and how it reads theirs.
//
//   a run       is read                                            else
//   ended       from what was kept, if that has what is wanted     its host is asked; if it does not answer, what was kept, with a gap
//   live        by asking its host                                 what was kept: it has ended meanwhile

import type { Elsewhere } from "../api/context.ts";
import { type Segment, segmentLine } from "../core/output-order.ts";
import type { Disk } from "../disk.ts";
import { troubleOf } from "../disk.ts";
import type { Clock, Host } from "../host.ts";
import type { Log } from "../log.ts";
import type { KeptPatch, Outputs, Question, RunOutput } from "../output.ts";
import type { LogOptions, LogPart } from "../supervisor/index.ts";
import type { WorktreeView } from "../workspace.ts";
import type { Work } from "../workspaces/index.ts";
import { isKept, keepLog, pack, readKept, unpack } from "./kept-log.ts";

export type ElsewhereParts = {
	outputs: Outputs;
	logs: (job: number, options: LogOptions) => LogPart | null;
	orderOf: (job: number, attempt: number) => Segment[];
	work: Pick<Work, "diff" | "worktrees">;
	disk: Disk;
	clock: Clock;
	host: Pick<Host, "after" | "turn">;
	log: Log;
	/** Folder of all run folders. */
	runs: string;
	name: string;
	/** Whether a host can be expected to answer. */
	isThere: (host: string) => Promise<boolean>;
	/** Bytes of the end of each log that are kept. */
	keptBytes: () => number;
};

/** An answer goes through the store as one record. */
const MOST_BYTES = 256 * 1024;
const MOST_TOLD = 64 * 1024;
const MOST_PATCH = 1_000_000;
const MOST_ORDER = 64 * 1024;
/** Whoever asks waits so much longer than the one who answers. */
const ROUND_MS = 5_000;
/** The one who answers holds a question open at most so long. */
const HOLD_MS = 10_000;
const SILENT_MS = 10_000;
const LOOK_MS = 150;
/** After a restart: runs that ended lately, of which nothing may have been kept yet. */
const LATELY_MS = 86_400_000;
const MOST_LATE = 500;

export function createElsewhere(parts: ElsewhereParts) {
	const { outputs, disk, clock, host, log, runs, name } = parts;
	const folder = (job: number, attempt: number) => `${runs}/${job}/${attempt}`;

	// ---- for others -----------------------------------------------------------------------------------------------------------------

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

	/** A crash may have come between a run's end and its keeping. */
	async function makeUp(): Promise<void> {
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

	/** Only what a later run is told of: the account, and the end of each log. Its session is not here. */
	async function bring({ job, attempt }: { job: number; attempt: number }): Promise<void> {
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

	async function answer(question: Question): Promise<unknown> {
		if (question.what === "diff") return parts.work.diff(question.job, question.attempt);
		if (question.what === "place") return { worktree: parts.work.worktrees().find(({ job }) => job === question.job) ?? null };
		const { job, attempt, stream, offset, tail, limit, wait_ms } = question;
		const from = tail === undefined ? { offset } : { tail };
		const until = clock.monotonic() + Math.min(wait_ms, HOLD_MS);
		for (;;) {
			// What the system has to tell of the order of writes comes first.
			await host.turn();
			const piece = parts.logs(job, { attempt, stream, ...from, limit: Math.min(limit, MOST_BYTES) });
			if (piece === null || piece.text !== "" || piece.ended || clock.monotonic() >= until) return piece;
			await new Promise<void>((resolve) => host.after(LOOK_MS, resolve, "hold"));
		}
	}

	// ---- of others ------------------------------------------------------------------------------------------------------------------

	/** Hosts that have just not answered: who reads a long log does not wait for them again and again. */
	const silent = new Map<string, number>();

	async function inquire(to: string, question: Question, waitMs = 0): Promise<unknown> {
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
			// It may have ended while its host was asked.
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

	return { elsewhere, keepSoon, makeUp, bring, answer };
}

function accountIn(text: string | null): Record<string, unknown> | null {
	try {
		const found: unknown = JSON.parse(text ?? "null");
		return typeof found === "object" ? (found as Record<string, unknown> | null) : null;
	} catch {
		return null;
	}
}

/** Only where both streams were used, and not of a run that went to and fro between them without end. */
function orderIn(segments: readonly Segment[]): { order?: string } {
	const text = segments.slice(0, -1).map(segmentLine).join("");
	return text === "" || text.length > MOST_ORDER ? {} : { order: text };
}

/** How much it changes; the patch itself only if it is not long. */
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
