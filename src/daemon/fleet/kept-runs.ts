// What this host stores of its own runs, in the store that hosts share, for hosts that show these runs or go on with their jobs.

import type { Disk } from "../../contracts/disk.ts";
import type { Clock, Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import type { KeptPatch, Outputs, RunOutput } from "../../contracts/output.ts";
import { messageOf } from "../../core/errors.ts";
import { type Segment, segmentLine } from "../../core/text/output-order.ts";
import type { Supervisor } from "../../supervisor/index.ts";
import type { Work } from "../../workspaces/index.ts";
import { keepLog, pack, unpack } from "./kept-log.ts";

type Run = { job: number; attempt: number };
type Place = {
	outputs: Outputs;
	disk: Disk;
	log: Log;
	/** Folder of all run folders. */
	runs: string;
	/** The name of this host. */
	name: string;
};
export type KeptRunsParts = Place & {
	supervisor: Pick<Supervisor, "logs" | "orderOf">;
	work: Pick<Work, "worktrees">;
	clock: Clock;
	host: Pick<Host, "turn">;
	/** How many bytes of the end of each log are stored. */
	keptBytes: () => number;
};

const MOST_PRIOR = 64 * 1024;
const MOST_PATCH = 1_000_000;
const MOST_ORDER = 64 * 1024;
/** After a restart, looks for runs that ended within this time and may not have been stored yet. */
const LATELY_MS = 86_400_000;
const MOST_LATE = 500;

export function createKeptRuns(parts: KeptRunsParts) {
	const { outputs, disk, clock, host, log, runs, name, supervisor, work } = parts;

	async function keep({ job, attempt }: Run): Promise<void> {
		const bytes = parts.keptBytes();
		if (bytes === 0) return;
		const dir = folderOf(runs, job, attempt);
		const worktree = work.worktrees().find((one) => one.job === job);
		const output: RunOutput = {
			version: 1,
			run: `${job}.${attempt}`,
			host: name,
			kept_at: clock.now(),
			output: supervisor.logs(job, { attempt, limit: 4 })?.output ?? "command",
			outcome: accountIn(disk.read(`${dir}/outcome.json`)),
			stdout: keepLog(disk, `${dir}/stdout.log`, bytes),
			stderr: keepLog(disk, `${dir}/stderr.log`, bytes),
			...orderIn(supervisor.orderOf(job, attempt)),
			patch: patchIn(disk, `${dir}/output.patch`, bytes),
			place: worktree ? { path: worktree.path, branch: worktree.branch, base_branch: worktree.base_branch } : null,
		};
		await outputs.keep(job, attempt, output);
	}

	const keepSoon = (run: Run): void =>
		void keep(run).catch((error) =>
			log.warn("a run could not be kept for other hosts", { run: `${run.job}.${run.attempt}`, error: messageOf(error) }),
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
					attempt > 0 && ["run.json", "outcome.json"].every((file) => disk.size(`${folderOf(runs, job, attempt)}/${file}`) !== null),
			)
			.slice(-MOST_LATE);
		for (const run of await outputs.missing(late)) {
			await keep(run);
			await host.turn();
		}
	}

	return { keepSoon, backfill };
}

const folderOf = (runs: string, job: number, attempt: number) => `${runs}/${job}/${attempt}`;

/** Fetches what the prompt of a later run needs: the outcome and the end of each log. The agent's session stays on the other host. */
export async function fetchPriorRun({ outputs, disk, log, runs, name }: Place, { job, attempt }: Run): Promise<void> {
	try {
		const kept = await outputs.read(job, attempt);
		if (!kept?.outcome || kept.host === name) return;
		const dir = folderOf(runs, job, attempt);
		disk.makeFolder(dir);
		for (const stream of ["stdout", "stderr"] as const) {
			const last = kept[stream].parts.at(-1);
			if (last) disk.write(`${dir}/${stream}.log`, new TextDecoder().decode(unpack(last.packed).slice(-MOST_PRIOR)));
		}
		disk.write(`${dir}/outcome.json`, `${JSON.stringify({ ...kept.outcome, session_gone: true, elsewhere: kept.host })}\n`);
	} catch (error) {
		log.warn("what another host has kept of a run cannot be had", { run: `${job}.${attempt}`, error: messageOf(error) });
	}
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
