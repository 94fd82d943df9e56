// The judgement of recorded output as a document, the same for RPC and command line.

import { knownOf } from "../../core/agents/index.ts";
import { createWatch, exitKindOf } from "../../core/agents/own/outcomes.ts";
import type { Profile } from "../../core/agents/profile.ts";
import { NOTHING } from "../../core/agents/stream/happening.ts";
import { createReader } from "../../core/agents/stream/reading.ts";
import { rfc3339 } from "../documents.ts";
import type { JudgementDocument } from "../protocol/agent.ts";

/** The parts of a profile that decide how its output is read. */
export type JudgedProfile = Pick<Profile, "output" | "command" | "outcomes" | "usage" | "session">;
type Recorded = { exit: number; stderr: string; now: number; timezone: string };
export type Judging = { push(bytes: Uint8Array): void; end(recorded: Recorded): JudgementDocument };

/** Takes stdout in pieces. */
export function createJudging(name: string, profile: JudgedProfile): Judging {
	const { output, outcomes, usage, session } = profile;
	const reader = createReader(output);
	const watch = createWatch({ ...(outcomes && { outcomes }), ...(usage && { usage }), ...(session === undefined ? {} : { session }) });
	return {
		push(bytes) {
			reader.push(bytes);
			watch.stdout(bytes);
		},
		end({ exit, stderr, now, timezone }) {
			const program = { name, version: null, tested: knownOf(profile)?.tested ?? null };
			const found = watch.judge(output, reader.end(), { code: exit }, { stderr, now, timezone, before: NOTHING, program });
			const { cost_micro, ...used } = found.used;
			return {
				outcome: found.outcome,
				exit_kind: exitKindOf(output, found),
				...(found.rule === null ? {} : { by: `agents.${name}.outcomes[${found.rule}]` }),
				...(found.until === null ? {} : { until: rfc3339(found.until) }),
				...(found.retry_after_ms === null ? {} : { retry_after: found.retry_after_ms / 1000 }),
				...(found.session === null ? {} : { session_id: found.session }),
				...(found.session_gone ? { session_gone: true } : {}),
				usage: used,
				...(cost_micro === null ? {} : { cost_micro }),
				...(found.message === null ? {} : { message: found.message }),
				...(found.question === null ? {} : { question: found.question }),
				...(found.not_understood === 0 ? {} : { not_understood: found.not_understood }),
				...(found.version === null ? {} : { version: found.version }),
			};
		},
	};
}
