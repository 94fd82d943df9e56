// doctor on a queue that cannot be written: by the mode of the file or of its folder, and on a read-only file system.

import { spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestHome } from "../make/daemons/daemon.ts";
import { mountSmallDisk } from "../make/daemons/mounted.ts";
import { makeFolder } from "../make/folder.ts";

const isRoot = process.getuid?.() === 0;
const OTHER = 54_321;

/** What doctor says of the store and the home, asked by a user whom modes hold for. */
async function doctor(home: TestHome, uid: number): Promise<Record<string, { ok: boolean; detail: string }>> {
	const child = spawn(process.execPath, [TestHome.command(), "doctor", "--json"], {
		env: { PATH: process.env.PATH ?? "", HOME: home.path, SLUICE_HOME: home.path },
		cwd: "/",
		...(isRoot ? { uid, gid: uid } : {}),
		stdio: ["ignore", "pipe", "inherit"],
	});
	let out = "";
	child.stdout.on("data", (chunk) => {
		out += chunk;
	});
	await new Promise((resolve) => child.once("close", resolve));
	const { checks } = JSON.parse(out) as { checks: { name: string; ok: boolean; detail: string }[] };
	return Object.fromEntries(checks.map((one) => [one.name, one]));
}

async function stoppedHome(path?: string): Promise<TestHome> {
	const home = new TestHome(path);
	home.make();
	const { client } = await home.up();
	await client.call("job.add", { command: ["true"] });
	expect(await home.run(["down"])).toMatchObject({ code: 0 });
	return home;
}

test.skipIf(!isRoot)("a file or a folder that may not be written (needs root, to act as a second user)", async () => {
	const folder = makeFolder();
	chmodSync(folder, 0o755);
	const home = await stoppedHome(join(folder, "home"));
	for (const name of ["", ...readdirSync(home.path)]) chownSync(join(home.path, name), OTHER, OTHER);
	expect((await doctor(home, OTHER)).store).toMatchObject({ ok: true });
	chmodSync(join(home.path, "sluice.db"), 0o400);
	expect((await doctor(home, OTHER)).store).toMatchObject({
		ok: false,
		detail: expect.stringMatching(/sluice\.db may not be written by this user: no job can be added or started$/),
	});
	chmodSync(join(home.path, "sluice.db"), 0o600);
	chmodSync(home.path, 0o500);
	const found = await doctor(home, OTHER);
	for (const name of ["home", "store"])
		expect(found[name]).toMatchObject({ ok: false, detail: expect.stringMatching(/home may not be written by this user/) });
});

test.skipIf(!isRoot)("a read-only file system (needs root, to mount one)", async ({ skip }) => {
	const folder = makeFolder();
	const disk = mountSmallDisk(folder, "32m");
	if (disk === null) skip("mounting is not allowed here");
	mkdirSync(join(folder, "home"), { mode: 0o700 });
	const home = await stoppedHome(join(folder, "home"));
	disk?.readOnly();
	expect((await doctor(home, 0)).store).toMatchObject({ ok: false, detail: expect.stringContaining("is on a read-only file system") });
});
