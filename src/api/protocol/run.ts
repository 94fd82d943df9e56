// Methods by which a run reports about itself. The run's token identifies the caller.

import { VERDICTS, type VerdictWord } from "../../core/runs/verdict.ts";
import type { Doc, Timestamp } from "../documents.ts";
import { choice, json, maybe, orNull, runMethod, text } from "../fields.ts";

export const RUN_METHODS = {
	"run.verdict": runMethod<Doc<{ job: number; verdict: VerdictWord; text: string; at: Timestamp }>>()({
		about:
			"For a run, about itself: how its work went, whatever exit code its program has. `fail`: the run fails, and nothing of it is merged. `ask`: a person is asked, and the job goes on with the answer. `ok`: it went well; a failure stays one. The last one counts.",
		params: {
			verdict: choice("what the run says of its work", VERDICTS),
			text: maybe(text("why it failed; what a person is asked. Cut after 10000 characters")),
		},
		result: "{job, verdict, text, at}",
	}),
	"run.result": runMethod<Doc<{ job: number; bytes: number }>>()({
		about:
			"For a run, about itself: what it reports to the jobs after it, which find it in their prompts as `{{after.NAME.result}}`. The last one counts; it stays when the job has ended.",
		params: { result: orNull(json("any JSON, at most 64 KiB: a text, a number, a list, an object")) },
		result: "{job, bytes}",
	}),
} as const;
