// Descriptions of the commands by which a run reports about itself.

import { commandsOf, text } from "../command.ts";

const INSIDE = "Only inside a run, which is known by SLUICE_TOKEN or by the calling process. Agents find the same as tools of sluice mcp.";

export const RUN = commandsOf("", () => import("../commands/run.ts"), {
	verdict: {
		help: "From inside a run: say how its work went, whatever exit code it will have.",
		more: [
			"fail: the run fails with TEXT, and its work is not merged. No retry policy tries it again.",
			"ask: a person is asked TEXT; the job waits, and goes on with the answer.",
			"A command job is started again for that: its new run finds the answer in the file that SLUICE_PRIOR_FILE names, as `answer`.",
			"ok: it went well. A failure stays a failure. The last verdict of a run counts: ok takes back a fail or an ask.",
			"A verdict without a text counts as well. A text of more than 10000 characters is cut.",
			"Options stand before VERDICT: sluice verdict --json fail TEXT.",
			INSIDE,
		],
		args: [
			{ name: "VERDICT", help: "ok, fail or ask.", take: "one", completes: ["ok", "fail", "ask"] },
			{
				name: "TEXT",
				help: "Why it failed, or the question; - reads it from stdin. Everything after VERDICT is text, also what begins with a dash.",
				take: "any",
				verbatim: true,
			},
		],
		examples: [
			["sluice verdict fail 'it deletes all users'", "a review that says no"],
			["sluice verdict ask 'Which database: staging or production?'", "the job waits for sluice answer"],
			["sluice verdict ok", "takes back what was said before"],
		],
	},
	result: {
		help: "From inside a run: report JSON to the jobs after it, who find it as {{after.NAME.result}} in their prompts.",
		more: ["At most 64 KiB. The last one counts; sluice show ID --json has it as `result`, also when the job has ended.", INSIDE],
		args: [{ name: "JSON", help: "The result; - reads it from stdin.", take: "optional" }],
		options: [text("file", "FILE", "Read it from a file.", { short: "f", completes: "file" })],
		examples: [
			[`sluice result '{"files": ["a.ts"], "risk": "low"}'`, "an object"],
			["sluice result --file report.json", "from a file"],
		],
	},
});
