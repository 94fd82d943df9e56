// sluice list besides its rows: ended jobs that need a person.

import { expect, test } from "vitest";
import { job, openCommandLine } from "../../../../test/make/daemons/command-line.ts";

test("list names jobs whose merge needs a person, also when there are no rows", async () => {
	const unmerged = [1, 2, 3, 4, 5, 6, 7].map((id) =>
		job(id, { status: "succeeded", merge_status: "base_dirty", repo: id === 7 ? "web" : "app" }),
	);
	const line = await openCommandLine({
		"job.list": ({ ids }) => ({ jobs: ids ? unmerged : [] }),
		"scheduler.status": { unmerged: unmerged.map(({ id }) => ({ job: id })) },
	});
	expect((await line.run("list")).err).toBe(
		"nothing waits and nothing runs; --all shows what has ended\nnot merged, and needs you: job 1, job 2, job 3, job 4, job 5 and 2 more; sluice status says why\n",
	);
	expect((await line.run("list --repo web")).err).toContain("needs you: job 7; sluice status");
	for (const how of ["--all", "--json"]) expect((await line.run(`list ${how}`)).err).not.toContain("needs you");
});
