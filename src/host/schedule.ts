// Cron expressions, parsed by croner: five fields, or six with seconds first, or @daily and the like, in a time zone.
//
// When clocks change: a local time that does not exist that day comes an hour later, once; one that exists twice counts once. So "30 2 * * *" has exactly one
// slot on either day. A schedule of every hour or more often goes on through the repeated hour.

import { Cron } from "croner";
import type { ReadSchedule } from "../contracts/host.ts";
import * as check from "../core/input/check.ts";

const NICKNAMES = /^@(?:yearly|annually|monthly|weekly|daily|hourly)$/;

export const readSchedule: ReadSchedule = (schedule, timezone) => {
	const fields = schedule.trim().split(/\s+/);
	// croner also accepts a date, which is no schedule: a job has runnable_at for that.
	if (fields.length !== 5 && fields.length !== 6 && !NICKNAMES.test(schedule))
		throw check.wrong(
			"schedule",
			`${check.shown(schedule)} is not a cron expression`,
			'five fields, for example "30 2 * * *", or "@daily"',
		);
	let cron: Cron;
	try {
		cron = new Cron(schedule, { timezone, paused: true });
		// croner notices a wrong time zone only when it computes a slot.
		cron.nextRun(new Date(0));
	} catch (error) {
		const said = error instanceof Error ? error.message.replace(/^Cron\w*: /, "") : String(error);
		throw check.wrong("schedule", `${check.shown(schedule)} is not a cron expression: ${said}`, 'for example "30 2 * * *", or "@daily"');
	}
	const next = (one: Cron, after: number) => one.nextRun(new Date(after))?.getTime() ?? null;
	const hours = fields.length < 5 ? (schedule === "@hourly" ? "*" : "") : (fields.at(-4) as string);
	if (!hours.startsWith("*")) return (after) => next(cron, after);
	return (after) => {
		// Compute with the current UTC offset, which is right until the clocks change; if the slot has another offset, compute again with that one.
		let offset = offsetAt(after, timezone);
		for (let tries = 0; tries < 2; tries++) {
			const slot = next(new Cron(schedule, { utcOffset: offset, paused: true }), after);
			if (slot === null) break;
			const there = offsetAt(slot, timezone);
			if (there === offset) return slot;
			offset = there;
		}
		return next(cron, after);
	};
};

/** Minutes by which local time is ahead of UTC. */
function offsetAt(at: number, timezone: string): number {
	const name = new Intl.DateTimeFormat("en-GB", { timeZone: timezone, timeZoneName: "longOffset" })
		.formatToParts(at)
		.find(({ type }) => type === "timeZoneName")?.value;
	const [, sign, hours = "0", minutes = "0"] = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(name ?? "") ?? [];
	return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
