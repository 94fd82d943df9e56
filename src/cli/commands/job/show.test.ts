// show and list of a waiting job: every field of its schedule is visible.

import { expect, test } from "vitest";
import { CONFIG, FIELDS } from "../../../../test/fuzz/job-fields.ts";
import { job, openCommandLine } from "../../../../test/make/daemons/command-line.ts";
import { openDesk } from "../../../../test/make/daemons/served.ts";
import { INPUT_KEYS } from "../../../core/schema/job.ts";

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

/** `show --json` and `show --fields` have these; source and phase are in the line of the item. A new field is listed here, or gets a line. */
const WITHOUT_LINE = [
	...["on_missing", "stall_timeout", "unique", "source", "phase", "recipe", "vars", "mode", "raw", "owned", "input_patch", "env", "commit"],
	"trigger",
];

test("show has a line for every field that a job can be given", async () => {
	const desk = await openDesk({ config: CONFIG, join: { name: "h", labels: ["gpu"] } });
	for (const name of ["first", "second"]) await desk.t.add({ name });
	const shown = async (input: object) => {
		const { job: document } = await desk.call("job.show", { id: await desk.t.add(input) });
		const line = await openCommandLine({ "job.show": { job: { ...document, id: 3, created_at: null } } });
		return (await line.run("show 3")).out;
	};
	const missing: string[] = [];
	for (const key of INPUT_KEYS) {
		const { good, with: base = { command: ["make"] } } = FIELDS[key];
		const plain = base.command || (base.agent && base.prompt) ? base : { command: ["true"] };
		if ((await shown({ ...base, [key]: good })) === (await shown(plain))) missing.push(key);
	}
	expect(missing).toEqual(WITHOUT_LINE);
});
