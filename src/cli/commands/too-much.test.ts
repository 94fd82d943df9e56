// More than fits: a job with a very long command, and more jobs than are shown.

import { expect, test } from "vitest";
import { job, openCommandLine } from "../../../test/make/daemons/command-line.ts";

const LONG = ["echo", "x".repeat(100_000)];

test("does not widen the lines of other jobs when a list is piped", async () => {
	const line = await openCommandLine({ "job.list": { jobs: [job(1, { command: LONG }), job(2)] } });
	for (const text of ["list", "list --fields id,command,lane"]) {
		const { out } = await line.run(text);
		for (const row of out.split("\n")) expect(row.length).toBeLessThan(300);
		expect(out).toContain("xxx…");
	}
	expect(JSON.parse((await line.run("list --json")).out).jobs[0].command).toEqual(LONG);
});

test("is cut by show on a terminal, with a hint; a pipe gets all of it", async () => {
	const line = await openCommandLine({ "job.show": { job: job(1, { command: LONG }) }, "job.list": { jobs: [job(1, { command: LONG })] } });
	for (const text of ["show 1", "show 1 --fields command", "list --format block"]) {
		let out = "";
		const stdout = { write: (piece: string) => (out += piece), isTTY: true, columns: 80 };
		await line.run(`${text} --no-color`, { stdout });
		expect(out.length).toBeLessThan(2000);
		expect(out).toMatch(/x… \(10000\d characters; --json has them all\)/);
		expect((await line.run(text)).out).toContain(LONG[1]);
	}
});

test("list of ended jobs is limited to the latest", async () => {
	const all = Array.from({ length: 2500 }, (_, index) => job(index + 1));
	const line = await openCommandLine({
		"job.list": ({ before, limit }) => ({ jobs: all.filter(({ id }) => id < (before as number)).slice(-(limit as number)) }),
	});
	for (const text of ["list --all --limit 2", "list --status failed --limit 2"]) {
		const { out, err } = await line.run(`${text} --fields id`);
		expect([out, err]).toEqual(["  ID\n2499\n2500\n", "only the last 2 are shown; --limit 0 shows all\n"]);
	}
	const { jobs } = JSON.parse((await line.run("list --all --limit 1500 --json")).out);
	expect([jobs.length, jobs[0].id, jobs.at(-1).id]).toEqual([1500, 1001, 2500]);
});
