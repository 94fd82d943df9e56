// The filter of job.select: what jobs must be.

import { STATUSES } from "../../../core/job.ts";
import { choices, flag, label, maybe, shape, text, time, word } from "../../fields.ts";

export const JOB_FILTER = shape("what the jobs must be; each that is given must match", {
	status: maybe(choices("one of these; ended ones too", STATUSES)),
	lane: maybe(label("of this lane")),
	repo: maybe(label("of this repo")),
	batch: maybe(label("of this batch")),
	owner: maybe(word("of this owner")),
	agent: maybe(label("of this agent")),
	model: maybe(word("whose run uses this model, or that ask for it")),
	host: maybe(label("that run on this host, or ended there")),
	since: maybe(time("that ended at or after this time")),
	text: maybe(text("in which every one of these words occurs, as in `job.search`", 1000)),
	held: maybe(flag("that a person holds")),
	asks: maybe(flag("that wait for approval")),
	all: maybe(flag("ended ones too")),
});
