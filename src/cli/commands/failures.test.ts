// Recent failures in the commands that people try first.

import { expect, test } from "vitest";
import { ago, openCommandLine, STATUS } from "../../../test/make/daemons/command-line.ts";

test("status and list show recent failures, also when no job waits", async () => {
	const recent_failures = { since: ago(86_400_000), failed: 3, blocked_by_dependency: 1 };
	const line = await openCommandLine({ "job.list": { jobs: [] }, "scheduler.status": { ...STATUS, recent_failures } });
	const words = "3 failed, 1 blocked in the last 24 hours: sluice list --status failed --status blocked_by_dependency\n";
	expect((await line.run("status")).out).toContain(words);
	expect((await line.run("list")).err).toBe(`nothing waits and nothing runs; --all shows what has ended\n${words}`);
	expect(JSON.parse((await line.run("list --json")).out)).toMatchObject({ jobs: [], recent_failures });
	expect(JSON.parse((await line.run("status --json")).out)).toMatchObject({ recent_failures });
	// Not printed if the filter excludes most jobs, or includes ended ones.
	for (const text of ["list --all", "list --status failed", "list --lane default"])
		expect((await line.run(text)).err).not.toContain("in the last 24 hours");
	const well = await openCommandLine({
		"job.list": { jobs: [] },
		"scheduler.status": { ...STATUS, recent_failures: { ...recent_failures, failed: 0, blocked_by_dependency: 0 } },
	});
	expect((await well.run("list")).err).toBe("nothing waits and nothing runs; --all shows what has ended\n");
});
