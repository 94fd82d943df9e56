// Manifests against a real daemon: fan-out and fan-in, waves, applying again, the line of a mistake.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the manifests' own

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestHome } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";

const MANIFEST = `batch: docs
jobs:
  plan:
    command: [true]
    produces: ["custom:plan:docs"]
  write:
    for_each: {lang: [de, fr], part: [1, 2]}
    command: [/bin/sh, -c, 'echo "\${lang} \${part} $\${HOME:+home}"']
    after: [plan]
  check:
    command: [true]
    after: [write]
`;

test("a fan-out, applied, applied again, and grown", async () => {
	const home = new TestHome();
	home.make();
	const { client } = await home.up();
	const file = join(makeFolder(), "docs.yml");
	writeFileSync(file, MANIFEST.replaceAll("[true]", '["true"]'));
	const checked = await home.run(["apply", "--check", file]);
	expect(checked.out).toBe("wave 1    plan\nwave 2    write-de-1  write-de-2  write-fr-1  write-fr-2\nwave 3    check\n");
	expect((await client.call("job.list", { all: true })).jobs).toEqual([]);

	await client.call("scheduler.pause", {});
	expect((await home.run(["apply", file])).out).toBe("1\tplan\n2\twrite-de-1\n3\twrite-de-2\n4\twrite-fr-1\n5\twrite-fr-2\n6\tcheck\n");
	expect((await client.call("job.show", { id: "check" })).job.after.map(({ job }) => job)).toEqual([2, 3, 4, 5]);
	const open = await home.run(["apply", file, "--json"]);
	expect(JSON.parse(open.out)).toMatchObject({
		jobs: [],
		skipped: [{ name: "plan", reason: "exists" }, {}, {}, {}, {}, { name: "check" }],
	});
	await client.call("scheduler.resume", {});
	await client.call("job.wait", { ids: ["check"] });
	expect((await home.run(["logs", "write-fr-2"])).out).toBe("fr 2 home\n");

	expect(await home.run(["apply", file])).toMatchObject({ code: 4, out: "", err: expect.stringContaining(`sluice apply ${file} --again`) });
	await client.call("scheduler.pause", {});
	expect((await home.run(["apply", file, "--again"])).out).toMatch(/^7\tplan\n(?:\d+\twrite-.*\n){4}12\tcheck\n$/);
	writeFileSync(file, MANIFEST.replaceAll("[true]", '["true"]').replace("part: [1, 2]", "part: [1, 2, 3]"));
	expect(await home.run(["apply", file])).toMatchObject({ code: 4, out: "", err: expect.stringContaining("--update") });
	const grown = JSON.parse((await home.run(["apply", file, "--update", "--json"])).out);
	expect(Object.keys(grown.names)).toContain("write-de-3");
	expect([grown.jobs, grown.updated]).toEqual([[13, 14], [{ name: "check", job: 12 }]]);
	expect((await client.call("job.show", { id: "check" })).job.after.length).toBe(6);

	writeFileSync(file, MANIFEST.replace("${part} ", "${prt} "));
	const wrong = await home.run(["apply", file]);
	expect([wrong.code, wrong.err.split("\n")[0]]).toEqual([
		2,
		expect.stringContaining("docs.yml:8:28: jobs[1].command[2]: there is no variable"),
	]);
	expect(wrong.err).toContain('did you mean "${part}"?');
	expect((await client.call("job.list", { all: true })).jobs.length).toBe(14);
});
