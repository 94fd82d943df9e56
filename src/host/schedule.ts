// Cron expressions, read by croner: five fields, or six with seconds first, or @daily and the like, in a time zone.
//
// Where clocks change: a time that does not exist that day comes an hour later by the clock, once; one that exists twice counts once. So "30 2 * * *" has
// one slot on either day.

import { Cron } from "croner";
import * as check from "../core/check.ts";
import type { ReadSchedule } from "../host.ts";

const NICKNAMES = /^@(?:yearly|annually|monthly|weekly|daily|hourly)$/;

export const readSchedule: ReadSchedule = (schedule, timezone) => {
	const fields = schedule.trim().split(/\s+/);
	// croner also takes a date, which is no schedule: a job has runnable_at for that.
	if (fields.length !== 5 && fields.length !== 6 && !NICKNAMES.test(schedule))
		throw check.wrong(
			"schedule",
			`${check.shown(schedule)} is not a cron expression`,
			'five fields, for example "30 2 * * *", or "@daily"',
		);
	let cron: Cron;
	try {
		cron = new Cron(schedule, { timezone, paused: true });
		// A wrong time zone is noticed only when it is used.
		cron.nextRun(new Date(0));
	} catch (error) {
		const said = error instanceof Error ? error.message.replace(/^Cron\w*: /, "") : String(error);
		throw check.wrong("schedule", `${check.shown(schedule)} is not a cron expression: ${said}`, 'for example "30 2 * * *", or "@daily"');
	}
	return (after) => cron.nextRun(new Date(after))?.getTime() ?? null;
};
