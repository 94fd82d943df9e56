// The context of earlier attempts that a run gets: how the last one ended, its last output, its folder. In environment variables, and as the file
// prior.json.

import { type Before, CUT_OFF } from "../../core/agents/continuing.ts";
import { OUTCOMES } from "../../core/agents/stream/happening.ts";
import { storable } from "../../core/input/storable.ts";
import { EXIT_KINDS, type Job } from "../../core/job.ts";
import { type EarlierAttempt, lastLines } from "../../core/recipes/prompt-context.ts";
import type { SupervisorContext } from "../context.ts";
import { accountIn } from "../end/agent-end.ts";
import { TAIL_BYTES } from "../end/exit.ts";
import { endOf } from "../end/session-records.ts";
import { folderOf, type LiveRun } from "../run.ts";

type Answered = { asked?: Job["asked"] | null; answer?: Job["answer"] | null };
export type Prior = { env: Record<string, string>; text: string; past: EarlierAttempt | null };

/** Null for a first run, or if no folder of an earlier run is left. prior.json also has what a person was asked and answered. */
export function priorOf(context: SupervisorContext, run: LiveRun, { asked = null, answer = null }: Answered = {}): Prior | null {
	for (let attempt = run.attempt - 1; attempt > 0; attempt--) {
		const dir = folderOf(context, run.job, attempt);
		const outcome = accountIn(context, dir);
		if (outcome === null) continue;
		const { exit_kind = null, exit_code = null, message = null } = outcome;
		const tail = (stream: "stdout" | "stderr") => endOf(context.disk, `${dir}/${stream}.log`, TAIL_BYTES);
		const [stdout, stderr] = [tail("stdout"), tail("stderr")];
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
			env: { SLUICE_PRIOR_ATTEMPT: String(attempt), SLUICE_PRIOR_EXIT: String(exit_kind), SLUICE_PRIOR_FILE: `${run.dir}/prior.json` },
			text: `${JSON.stringify(account)}\n`,
			past: pastOf(attempt, outcome, { stdout, stderr }),
		};
	}
	return null;
}

/** The last attempt as text for a prompt. If the attempt wrote JSON lines, its last message stands in for them. */
function pastOf(
	attempt: number,
	outcome: Record<string, unknown>,
	{ stdout, stderr }: { stdout: string; stderr: string },
): EarlierAttempt | null {
	const exit_kind = EXIT_KINDS.find((kind) => kind === outcome.exit_kind);
	if (exit_kind === undefined) return null;
	// The tail may begin in the middle of a long line, so either end of a JSON line counts.
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
				// The text becomes part of a prompt, and so of an argument, which cannot contain every byte that a log can.
				.map((part) => storable(String(part)))
				.join("\n"),
		),
	};
}

/** How the last run ended that really took place: decides whether its session is resumed. */
export function beforeOf(context: SupervisorContext, run: LiveRun): Before | null {
	let last: Before | null = null;
	for (let attempt = run.attempt - 1; attempt > 0; attempt--) {
		const account = accountIn(context, folderOf(context, run.job, attempt));
		const exit_kind = EXIT_KINDS.find((kind) => kind === account?.exit_kind);
		// A run that never started says nothing about the session.
		if (account === null || exit_kind === undefined || exit_kind === "launch_failed") continue;
		const session = typeof account.session === "string" ? account.session : null;
		const outcome = OUTCOMES.find((one) => one === account.outcome) ?? null;
		last ??= {
			exit_kind,
			outcome,
			session,
			session_gone: account.session_gone === true,
			awaits_answer: false,
			attached: account.attached === true,
		};
		if (exit_kind === "needs_human") return { ...last, awaits_answer: true };
		if (!CUT_OFF.includes(exit_kind)) return last;
	}
	return last;
}
