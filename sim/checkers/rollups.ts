// Rollups: what they have counted is what the events say, each start and each end once, through crashes, retries and changes of the leader.

import { type Checker, type Moment, must } from "./moment.ts";
import { heldBy, rollUp, type Sums } from "./rolled-up.ts";

const DAY_MS = 86_400_000;
/** Rollups are kept for a year; times before this are not compared. */
const KEPT_MS = 300 * DAY_MS;
/** Sums of times: a clock that was set back leaves them open. */
const TIMES: readonly string[] = ["slot_ms", "wait_ms"] satisfies (keyof Sums)[];

export const rollups: Checker = {
	name: "rollups",
	async check(moment) {
		const { memory, events, view, thorough, step } = moment;
		for (const event of events) rollUp(memory.rolled, event, (job) => view.get(job)?.created_at);
		if (thorough || step % 11 === 0) await compare(moment);
	},
};

async function compare({ memory: { rolled }, scheduler, state, marks }: Moment): Promise<void> {
	if (rolled.first === null || rolled.first < state.now - KEPT_MS) return;
	const { total, until, groups, waits } = await scheduler.stats({ since: Math.max(0, state.now - KEPT_MS), bucket: "day" });
	const live = [...rolled.live.keys()].reduce((sum, job) => sum + heldBy(rolled, job, until), 0);
	const expected: Sums = { ...rolled.sums, slot_ms: rolled.sums.slot_ms + live };
	for (const [name, sum] of Object.entries(expected)) {
		if (rolled.isSetBack && TIMES.includes(name)) continue;
		const found = total[name as keyof Sums];
		must(found === sum, `stats: ${name} is ${found}, the events say ${sum}`);
		const inGroups = groups.reduce((all, group) => all + group.total[name as keyof Sums], 0);
		must(inGroups === found, `stats: ${name} of all lanes is ${inGroups}, in all it is ${found}`);
	}
	const byCause = Object.values(waits).reduce((all, ms) => all + ms, 0);
	must(byCause === total.wait_ms, `stats: waits by cause are ${byCause} ms, in all ${total.wait_ms} ms`);
	if (total.started > 0) marks.hit("rollups:compared");
	if (total.retried > 0) marks.hit("rollups:retried");
	if (total.wait_ms > 0) marks.hit("rollups:waited");
}
