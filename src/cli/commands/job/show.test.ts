// show and list of a waiting job: every field of its schedule is visible.

import { expect, test } from "vitest";
import { job, openCommandLine } from "../../../../test/make/command-line.ts";

test("show and list have what a waiting job comes after, needs, makes, locks, is pinned to, waits for and has waited for", async () => {
	const waiting = job(8, {
		status: "waiting_on_deps",
		after: [{ job: 3, policy: "success" }],
		needs: ["file:plan.md"],
		produces: ["branch:draft"],
		locks: [{ key: "db", mode: "shared" }],
		pinned_head: { branch: "main", commit: "0123456789abcdef" },
		wait_reason: { kind: "dependencies", detail: "waiting on job 3" },
		waited_on: ["locks", "dependencies"],
	});
	const line = await openCommandLine({ "job.show": { job: waiting }, "job.list": { jobs: [waiting] } });
	const { out } = await line.run("show 8");
	expect(out.split("\n")[0]).toContain("waiting on deps, waiting on job 3");
	for (const row of [
		/^after +3$/m,
		/^needs +file:plan\.md$/m,
		/^produces +branch:draft$/m,
		/^locks +db \(shared\)$/m,
		/^pinned to +main at 0123456789ab$/m,
		/^waited on +locks, dependencies$/m,
	])
		expect(out).toMatch(row);
	const fields = "after,needs,locks,wait_reason,waited_on,pinned_head,produces";
	for (const command of ["show 8", "list"]) {
		const said = (await line.run(`${command} --fields ${fields}`)).out;
		for (const word of ["3", "file:plan.md", "db", "waiting on job 3", "locks, dependencies", "main", "branch:draft"])
			expect(said).toContain(word);
	}
});
