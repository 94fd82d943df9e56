// Planted bugs in what a run may add.

import { draftJob } from "../../src/core/input/job.ts";
import { isBelow, lower } from "../../src/core/trust/run-bounds.ts";
import { findTwin } from "../../src/scheduler/operations/add.ts";
import { always, type Bug, bugsOf, everywhere, hidden, within } from "./bug.ts";

export const FAMILY: Bug[] = bugsOf("a run adds below its own job, with no more than that job has", {
	"a run adds to another family": within(hidden("addToFamily"), isBelow, always(true)),
	"a run replaces a job of another family": within(findTwin, isBelow, always(true)),
	"what a run adds goes before its own job": everywhere(
		lower,
		(right) => (job, spec, bounds) => right(job, spec, { ...bounds, priority: bounds.priority + 1 }),
	),
	"a run may force": everywhere(draftJob, (right) => (value, config, options) => {
		const { within: run, ...free } = options;
		return right(value, config, run && options.force ? free : options);
	}),
});
