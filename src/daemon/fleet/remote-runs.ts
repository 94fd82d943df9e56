// Runs of other hosts: how this host reads them, and how it answers the other hosts' questions about its own.
//
//   a run       is read                                                otherwise
//   ended       from its stored output, if that has the wanted part    from its host; if that does not answer, the stored output, with a gap
//   live        from its host                                          from the stored output: the run has ended meanwhile

import type { Elsewhere } from "../../api/context.ts";
import type { Clock, Host } from "../../contracts/host.ts";
import type { OutputRequest, Outputs } from "../../contracts/output.ts";
import type { WorktreeView } from "../../contracts/workspace.ts";
import type { LogPart, Supervisor } from "../../supervisor/index.ts";
import type { Work } from "../../workspaces/index.ts";
import { isKept, readKept, unpack } from "./kept-log.ts";

export type AnswerParts = {
	supervisor: Pick<Supervisor, "logs" | "signal">;
	work: Pick<Work, "diff" | "place">;
	clock: Clock;
	host: Pick<Host, "after" | "turn">;
};
export type RemoteRunsParts = {
	outputs: Outputs;
	clock: Clock;
	/** The name of this host. */
	name: string;
	/** Whether a host can be expected to answer. */
	isThere: (host: string) => Promise<boolean>;
};

/** An answer travels through the store as one record. */
const MOST_BYTES = 256 * 1024;
/** The asking host waits this much longer than the answering host may hold the question. */
const ROUND_MS = 5_000;
/** The longest time that the answering host holds a question open. */
const HOLD_MS = 10_000;
const SILENT_MS = 10_000;
const LOOK_MS = 150;

export type RunQuestion = Exclude<OutputRequest, { what: "audit" }>;

/** Answers a question of another host about a run of this host. */
export async function answerRequest(parts: AnswerParts, question: RunQuestion): Promise<unknown> {
	const { supervisor, work, clock, host } = parts;
	if (question.what === "diff") return work.diff(question.job, question.attempt);
	if (question.what === "signal") return { sent: supervisor.signal(question.job, question.signal) };
	if (question.what === "place") return { worktree: await work.place(question.job) };
	const { job, attempt, stream, offset, tail, limit, wait_ms } = question;
	const from = tail === undefined ? { offset } : { tail };
	const until = clock.monotonic() + Math.min(wait_ms, HOLD_MS);
	for (;;) {
		// Let pending file notifications be handled first: they determine the order of writes in the log.
		await host.turn();
		const piece = supervisor.logs(job, { attempt, stream, ...from, limit: Math.min(limit, MOST_BYTES) });
		if (piece === null || piece.text !== "" || piece.ended || clock.monotonic() >= until) return piece;
		await new Promise<void>((resolve) => host.after(LOOK_MS, resolve, "hold"));
	}
}

export function createRemoteRuns({ outputs, clock, name, isThere }: RemoteRunsParts): Elsewhere {
	/** Hosts that did not answer just now, so that a reader of a long log does not wait for them again and again. */
	const silent = new Map<string, number>();

	async function inquire(to: string, question: OutputRequest, waitMs = 0): Promise<unknown> {
		if ((silent.get(to) ?? 0) > clock.monotonic() || !(await isThere(to))) return null;
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

	return {
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
		async signal(job, attempt, signal) {
			const from = await owner(job, attempt);
			if (from === null) return { host: null, sent: false };
			const answer = (await inquire(from, { what: "signal", job, attempt, signal })) as { sent: boolean } | null;
			return { host: from, sent: answer?.sent ?? null };
		},
		async outcome(job, attempt) {
			const kept = await outputs.read(job, attempt);
			return kept?.outcome ? { host: kept.host, outcome: kept.outcome } : null;
		},
	};
}
