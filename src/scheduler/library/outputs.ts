// The library's methods for output of runs that is kept for other hosts, without the questions between hosts: questions.ts.

import type { Outputs } from "../../contracts/output.ts";
import type { Core } from "../operations/core.ts";
import { missingOutputs, ranOn, readOutput } from "../operations/outputs.ts";

export const outputMethods = (core: Core): Omit<Outputs, "inquire" | "answer"> => ({
	keep: (job, attempt, output) => core.call("keepOutput", { job, attempt, output }),
	read: (job, attempt) => core.look(() => readOutput(job, attempt)),
	missing: (runs) => core.look((tx) => missingOutputs(tx, runs)),
	ranOn: (job, attempt) => core.look((tx) => ranOn(tx, job, attempt)),
});
