// The judgement of recorded output as a document, the same for RPC and command line.

import { knownOf } from "../../core/agents/index.ts";
import { createWatch, exitKindOf, type OwnJudgement } from "../../core/agents/own/outcomes.ts";
import type { Format, Profile } from "../../core/agents/profile.ts";
import { NOTHING } from "../../core/agents/stream/happening.ts";
import { createReader } from "../../core/agents/stream/reading.ts";
import { given } from "../../core/given.ts";
import { rfc3339 } from "../documents.ts";

/** The parts of a profile that decide how its output is read. */
export type JudgedProfile = Pick<Profile, "output" | "command" | "outcomes" | "usage" | "session">;
type Recorded = { exit: number; stderr: string; now: number; timezone: string };
export type Judging = { push(bytes: Uint8Array): void; end(recorded: Recorded): JudgementDocument };

/** Takes stdout in pieces. */
export function createJudging(name: string, profile: JudgedProfile): Judging {
	const { output, outcomes, usage, session } = profile;
	const reader = createReader(output);
	const watch = createWatch(given({ outcomes, usage, session }));
	return {
		push(bytes) {
			reader.push(bytes);
			watch.stdout(bytes);
		},
		end({ exit, stderr, now, timezone }) {
			const program = { name, version: null, tested: knownOf(profile)?.tested ?? null };
			const found = watch.judge(output, reader.end(), { code: exit }, { stderr, now, timezone, before: NOTHING, program });
			return documentOf(name, output, found);
		},
	};
}

export type JudgementDocument = ReturnType<typeof documentOf>;

/** Unknown values are left out. */
function documentOf(name: string, output: Format, found: OwnJudgement) {
	const { outcome, rule, until, retry_after_ms, session, session_gone, message, question, not_understood, version } = found;
	const { cost_micro, ...usage } = found.used;
	return {
		outcome,
		exit_kind: exitKindOf(output, found),
		...given({
			/** The configured rule that named the outcome. */
			by: rule === null ? undefined : `agents.${name}.outcomes[${rule}]`,
			until: until === null ? undefined : rfc3339(until),
			/** In seconds, as in the header of that name. */
			retry_after: retry_after_ms === null ? undefined : retry_after_ms / 1000,
			session_id: session ?? undefined,
			/** The session to resume does not exist. */
			session_gone: session_gone || undefined,
		}),
		usage,
		...given({
			cost_micro: cost_micro ?? undefined,
			message: message ?? undefined,
			question: question ?? undefined,
			/** Number of JSON lines that are not understood. */
			not_understood: not_understood || undefined,
			/** The program's version, if its output has it. */
			version: version ?? undefined,
		}),
	};
}
