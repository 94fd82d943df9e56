// Triggers with a real daemon: by time, by files, through the command line, across a restart.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";

test("each second: jobs with their trigger; remembered across a restart; removed", async () => {
	const home = new TestHome();
	home.make();
	const { child, client } = await home.up();
	const folder = makeFolder();
	const added = await home.run(["cron", "add", "tick", "* * * * * *", "--env", "A=1", "--", "/bin/sh", "-c", 'echo "$A $PWD"'], {
		cwd: folder,
	});
	expect([added.code, added.err]).toEqual([0, expect.stringContaining("tick comes first")]);
	expect((await home.run(["cron", "add", "tick", "@daily", "--", "true"])).code).toBe(4);
	expect((await home.run(["cron", "add", "bad", "99 * * * *", "--", "true"])).code).toBe(2);
	expect((await home.run(["cron", "add", "bad", "@daily", "--lane", "none", "--", "true"])).code).toBe(3);

	const ofTick = async () => (await client.call("job.list", { all: true })).jobs.filter(({ trigger }) => trigger === "cron:tick");
	const two = await until(async () => {
		const jobs = await ofTick();
		return jobs.length >= 2 && jobs.every(({ status }) => status === "succeeded") ? jobs : undefined;
	});
	expect((await home.run(["logs", String(two[0]?.id)])).out).toBe(`1 ${folder}\n`);
	const { triggers } = JSON.parse((await home.run(["cron", "list", "--json"])).out);
	expect(triggers).toMatchObject([
		{ name: "cron:tick", kind: "cron", schedule: "* * * * * *", timezone: "UTC", catch_up: "skip", error: null },
	]);
	expect((await home.run(["cron", "list"])).out).toMatch(/tick +\* \* \* \* \* \*/);
	expect((await home.run(["cron", "show", "tik"])).err).toContain('did you mean "tick"?');

	const { trigger: before } = JSON.parse((await home.run(["cron", "show", "tick", "--json"])).out);
	await home.kill(child);
	const again = await home.up();
	const { trigger: after } = await again.client.call("cron.show", { name: "tick" });
	expect(after.since).toBe(before.since);
	expect((await home.run(["cron", "remove", "tick"])).code).toBe(0);
	expect((await again.client.call("cron.list", {})).triggers).toEqual([]);
	expect((await home.run(["cron", "run", "tick"])).code).toBe(3);
});

test("by hand, and when files change; one at a time", async () => {
	const home = new TestHome();
	const folder = join(makeFolder(), "docs");
	const gate = join(makeFolder(), "go");
	mkdirSync(folder);
	home.make(`cron:
  rare: {schedule: "0 0 1 1 *", add: {command: ["/bin/sh", "-c", "while [ ! -e ${gate} ]; do sleep 0.02; done"]}}
watches:
  docs: {paths: [${folder}], debounce: 1ms, add: {command: ["true"], lane: default}}
`);
	const { client } = await home.up();
	expect((await home.run(["cron", "run", "rare"])).out).toBe("1\n");
	expect((await home.run(["cron", "run", "rare"])).err).toContain("not added: job 1 is still open");
	writeFileSync(gate, "");
	await client.call("job.wait", { ids: [1] });

	let count = 0;
	const found = await until(async () => {
		writeFileSync(join(folder, `a${count++}.md`), "x");
		return (await client.call("job.list", { all: true })).jobs.find(({ trigger }) => trigger === "watch:docs");
	});
	await client.call("job.wait", { ids: [found.id] });
	const { triggers } = await client.call("cron.list", {});
	expect(triggers.map(({ name, kind }) => [name, kind])).toEqual([
		["cron:rare", "cron"],
		["watch:docs", "watch"],
	]);
	expect((await home.run(["cron", "list"])).out).toContain("watch:docs");
});

test.each([
	["cron: {x: {schedule: nope, add: {command: [a]}}}", "config.yml:1:12: cron.x.schedule"],
	["cron: {x: {schedule: '@daily'}}", "cron.x.add: is missing"],
	["cron: {x: {schedule: '@daily', add: {comand: [a]}}}", "cron.x.add.comand"],
	["cron: {x: {schedule: '@daily', add: {name: n, command: [a]}}}", "cron.x.add.name: cannot be chosen"],
	["cron: {x: {schedule: '@daily', timezone: Nowhere, add: {command: [a]}}}", "is not a time zone"],
	["watches: {x: {paths: [docs], add: {command: [a]}}}", "watches.x.paths[0]"],
])("a configuration that is wrong: %s", async (config, said) => {
	const home = new TestHome();
	home.make(`${config}\n`);
	const { code, out, err } = await home.run(["config", "check"]);
	expect([code, `${out}${err}`]).toEqual([2, expect.stringContaining(said)]);
});
