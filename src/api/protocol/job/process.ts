// The methods that keep jobs from starting, or their processes from going on.

import type { HoldReport } from "../../../contracts/scheduler.ts";
import { type RunSignal, readSignal, SIGNALS } from "../../../core/runs/signals.ts";
import type { Doc } from "../../documents.ts";
import { field, id, ids, maybe, operatorMethod, text } from "../../fields.ts";

const reason = maybe(text("why, for the record", 10_000));

export const PROCESS_METHODS = {
	"job.hold": operatorMethod<Doc<HoldReport>>()({
		about:
			"Keeps waiting jobs from starting until they are released, whatever else happens. Of several, each is tried; the only one that is refused is an error.",
		params: { ids: ids("the jobs"), reason },
		result: "{done, refused: [{job, code, message}]}",
	}),
	"job.release": operatorMethod<Doc<HoldReport>>()({
		about: "Ends the hold of jobs: they start when their turn comes. Of several, each is tried; the only one that is refused is an error.",
		params: { ids: ids("the jobs") },
		result: "{done, refused: [{job, code, message}]}",
	}),
	"job.freeze": operatorMethod<Doc<HoldReport>>()({
		about:
			"Stops all processes of running jobs until they are thawed; their time limits stand still. Of several, each is tried; the only one that is refused is an error.",
		params: { ids: ids("the jobs"), reason },
		result: "{done, refused: [{job, code, message}]}",
	}),
	"job.thaw": operatorMethod<Doc<HoldReport>>()({
		about: "Lets the processes of frozen jobs go on. Of several, each is tried; the only one that is refused is an error.",
		params: { ids: ids("the jobs") },
		result: "{done, refused: [{job, code, message}]}",
	}),
	"job.signal": operatorMethod<Doc<{ job: number; run: string; host: string | null; signal: RunSignal; frozen: boolean }>>()({
		about:
			"Sends a signal to all processes of a running job's program; `job.cancel` is what ends a job. A frozen one gets it when it is thawed. `host`: where it runs, if that is another host.",
		params: { id: id(), signal: field<RunSignal>("word", `${SIGNALS.join(", ")}; with or without SIG`, readSignal, { type: "string" }) },
		result: "{job, run, host, signal, frozen}",
	}),
} as const;
