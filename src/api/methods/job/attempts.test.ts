// job.attempts tells every run of the jobs that it is asked about, also of those that go on.

import { expect, test } from "vitest";
import { openDesk } from "../../../../test/make/daemons/served.ts";

test("each run with its beginning, its end and how it ended; of a job that is not there nothing", async () => {
	const desk = await openDesk({ config: { retry: { max: 1, base_ms: 0 } } });
	const { t } = desk;
	const id = await t.add({ name: "again" });
	await t.start();
	t.clock.pass(1000);
	await t.end(id, "failed");
	t.clock.pass(60_000);
	await t.start();
	const other = await t.add();
	const { attempts } = await desk.call("job.attempts", { ids: ["again", other, 4711] });
	expect(attempts.map(({ job, attempt, end }) => [job, attempt, end])).toEqual([
		[id, 1, "failed"],
		[id, 2, null],
	]);
	expect(Date.parse(attempts[0]?.ended_at ?? "") - Date.parse(attempts[0]?.started_at ?? "")).toBe(1000);
	expect(attempts[1]?.ended_at).toBeNull();
});
