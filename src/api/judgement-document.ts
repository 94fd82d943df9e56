// What an adapter makes of recorded output, as a document: the same for the RPC and for the command line.

import { NOTHING } from "../core/agents/happening.ts";
import { exitKindFor, judge } from "../core/agents/judge.ts";
import type { Format } from "../core/agents/profile.ts";
import type { Reading } from "../core/agents/reading.ts";
import { rfc3339 } from "./documents.ts";
import type { JudgementDocument } from "./protocol/agent.ts";

export function judgementDocument(
	format: Format,
	reading: Reading,
	{ exit, stderr, now, timezone }: { exit: number; stderr: string; now: number; timezone: string },
): JudgementDocument {
	const found = judge(format, reading, { code: exit }, { stderr, now, timezone, before: NOTHING });
	const { cost_micro, ...usage } = found.used;
	return {
		outcome: found.outcome,
		exit_kind: exitKindFor(format, found.outcome),
		...(found.until === null ? {} : { until: rfc3339(found.until) }),
		...(found.retry_after_ms === null ? {} : { retry_after: found.retry_after_ms / 1000 }),
		...(found.session === null ? {} : { session_id: found.session }),
		usage,
		...(cost_micro === null ? {} : { cost_micro }),
		...(found.message === null ? {} : { message: found.message }),
		...(found.question === null ? {} : { question: found.question }),
	};
}
