// What a run is told of the one before it: how it ended, its last words, where. In its environment, and as a file.

import { type Before, CUT_OFF } from "../core/agents/continuing.ts";
import { OUTCOMES } from "../core/agents/happening.ts";
import { EXIT_KINDS, type Job } from "../core/job.ts";
import { lastLines, type Past } from "../core/telling.ts";
import { accountIn } from "./agent-end.ts";
import { storable, TAIL_BYTES } from "./exit.ts";
import type { Floor } from "./floor.ts";
import { folderOf, type LiveRun } from "./run.ts";

type Answered = { asked?: Job["asked"] | null; answer?: Job["answer"] | null };
export type Prior = { env: Record<string, string>; text: string; past: Past | null };

/** Null for a first run, or when the folder of the last one is gone. `prior.json` has what a person was asked and answered, too. */
export function priorOf(floor: Floor, run: LiveRun, { asked = null, answer = null }: Answered = {}): Prior | null {
	for (let attempt = run.attempt - 1; attempt > 0; attempt--) {
		const dir = folderOf(floor, run.job, attempt);
		const outcome = accountIn(floor, dir);
		if (outcome === null) continue;
		const { exit_kind = null, exit_code = null, message = null } = outcome;
		const [stdout, stderr] = [tail(floor, dir, "stdout"), tail(floor, dir, "stderr")];
		const account = {
			version: 1,
			attempt,
			exit_kind,
			exit_code,
			message,
			dir,
			stdout_tail: stdout,
			stderr_tail: stderr,
			asked,
			answer,
		};
		return {
			env: {
				SLUICE_PRIOR_ATTEMPT: String(attempt),
				SLUICE_PRIOR_EXIT: String(exit_kind),
				SLUICE_PRIOR_FILE: `${run.dir}/prior.json`,
			},
			text: `${JSON.stringify(account)}\n`,
			past: pastOf(attempt, outcome, { stdout, stderr }),
		};
	}
	return null;
}

/** In words for a prompt. Where it wrote JSON lines, what it said last stands for them. */
function pastOf(attempt: number, outcome: Record<string, unknown>, { stdout, stderr }: { stdout: string; stderr: string }): Past | null {
	const exit_kind = EXIT_KINDS.find((kind) => kind === outcome.exit_kind);
	if (exit_kind === undefined) return null;
	// The cut may have gone through a long line.
	const json = /^\{|\}$/.test(stdout.trim().split("\n").at(-1) ?? "");
	const said = json ? outcome.last_message : stdout;
	const message = typeof outcome.message === "string" ? outcome.message : null;
	return {
		attempt,
		exit_kind,
		message,
		tail: lastLines(
			[said, stderr]
				.filter((part) => typeof part === "string" && part.trim() !== "")
				// It becomes part of a prompt, and so of an argument, which may not have everything that a log has.
				.map((part) => storable(String(part)))
				.join("\n"),
		),
	};
}

/** How the last run ended that was there at all: whether its session goes on hangs on it. */
export function beforeOf(floor: Floor, run: LiveRun): Before | null {
	let last: Before | null = null;
	for (let attempt = run.attempt - 1; attempt > 0; attempt--) {
		const account = accountIn(floor, folderOf(floor, run.job, attempt));
		const exit_kind = EXIT_KINDS.find((kind) => kind === account?.exit_kind);
		// One that never started says nothing about the session.
		if (account === null || exit_kind === undefined || exit_kind === "launch_failed") continue;
		const session = typeof account.session === "string" ? account.session : null;
		const outcome = OUTCOMES.find((one) => one === account.outcome) ?? null;
		last ??= { exit_kind, outcome, session, session_gone: account.session_gone === true, awaits_answer: false };
		if (exit_kind === "needs_human") return { ...last, awaits_answer: true };
		if (!CUT_OFF.includes(exit_kind)) return last;
	}
	return last;
}

function tail({ disk }: Floor, dir: string, stream: "stdout" | "stderr"): string {
	const path = `${dir}/${stream}.log`;
	const size = disk.size(path) ?? 0;
	return new TextDecoder().decode(disk.readAt(path, Math.max(0, size - TAIL_BYTES), TAIL_BYTES));
}
