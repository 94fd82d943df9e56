// Planted bugs in what the rollups count.

import { byHour } from "../../src/core/rollups/cell.ts";
import { mergePeriods } from "../../src/core/rollups/period.ts";
import { finish } from "../../src/scheduler/operations/finish.ts";
import { noteEnd, noteRunEnd, noteStart } from "../../src/scheduler/rollups/notes.ts";
import { packRollups } from "../../src/scheduler/rollups/packing.ts";
import { beginWaiting, chargeWait } from "../../src/scheduler/rollups/wait-time.ts";
import { unplace } from "../../src/scheduler/waiting/park.ts";
import { type Bug, bugsOf, everywhere, hidden, skipped, within } from "./bug.ts";

export const ROLLUPS: Bug[] = bugsOf("rollups count each start and each end once", {
	"a retry is not counted as a start": everywhere(noteStart, (right) => (tx, job, run, waited) => {
		if (job.attempt === 1) right(tx, job, run, waited);
	}),
	"an end without a run is not counted": everywhere(noteEnd, (right) => (tx, job, run, status) => {
		if (run) right(tx, job, run, status);
	}),
	"the cost of a run that is retried is not counted": within(
		hidden("wait", { beside: finish }),
		noteRunEnd,
		(right) => (tx, job, run, how) => right(tx, job, run, { ...how, usage: undefined }),
	),
	"of a run over several hours the last one counts": everywhere(byHour, (right) => (from, to, held) => right(from, to, held).slice(-1)),
	"an hour that is packed replaces what was packed of it": within(
		hidden("packHours", { beside: packRollups }),
		mergePeriods,
		(right) => (periods) => right(periods.slice(-1)),
	),
	"the wait for a lock or a predecessor is not charged": within(unplace, chargeWait, skipped),
	"a retry counts the wait before its first run again": everywhere(beginWaiting, skipped),
});
