// Files of the queue that are deleted, emptied or damaged behind the daemon's back: the next start and doctor say that acknowledged jobs are missing, and nothing
// starts on what is left before the owner says so. What an owner may do to a home (kill, restore, move, copy, upgrade) raises no alarm.

import {
	closeSync,
	copyFileSync,
	cpSync,
	existsSync,
	mkdtempSync,
	openSync,
	readFileSync,
	rmSync,
	statSync,
	truncateSync,
	writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { connect } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { mountSmallDisk } from "../make/daemons/mounted.ts";
import { makeFolder } from "../make/folder.ts";
import { withDatabase } from "../make/stores/store-file.ts";

const file = (home: TestHome, end = "") => join(home.path, `sluice.db${end}`);

const JOBS = 9;

/** A home with so many acknowledged jobs; its daemon was killed, so that the newest of them are in the WAL alone. */
async function makeKilledHome(jobs = JOBS): Promise<TestHome> {
	const home = new TestHome();
	home.make();
	const { child, client } = await home.up();
	await client.call("scheduler.pause", {});
	for (let count = 0; count < jobs; count++) await client.call("job.add", { command: ["true"] });
	await home.kill(child);
	return home;
}

const copyHome = (from: string, to: string) =>
	cpSync(from, to, {
		recursive: true,
		preserveTimestamps: true,
		filter: (path) => !/^(exits|sluice\.sock|lock\.db.*)$/.test(basename(path)),
	});

const template = mkdtempSync(join(tmpdir(), "sluice-killed-home-"));
afterAll(() => rmSync(template, { recursive: true, force: true }));

/** A copy of one killed home with nine jobs: the first test that asks for it makes it. */
async function killedHome(): Promise<TestHome> {
	if (!existsSync(join(template, "home"))) copyHome((await makeKilledHome()).path, join(template, "home"));
	const home = new TestHome();
	copyHome(join(template, "home"), home.path);
	return home;
}

async function refusedStart(home: TestHome): Promise<string> {
	const child = home.spawn();
	const answered = async () => {
		const client = await connect(home.socket).catch(() => null);
		client?.close();
		return client !== null;
	};
	await until(async () => child.exitCode !== null || (await answered()));
	expect(child.exitCode).toBe(1);
	return child.said();
}

const listed = async (home: TestHome): Promise<number> => {
	const { client, child } = await home.up();
	const { jobs } = (await client.call("job.list", {})) as { jobs: unknown[] };
	await home.kill(child);
	return jobs.length;
};

/** 20 bytes in the middle of the WAL, and what comes after them is no longer read. */
function flip(path: string): void {
	const middle = Math.floor(statSync(path).size / 2);
	const bytes = readFileSync(path).subarray(middle, middle + 20);
	const fd = openSync(path, "r+");
	writeSync(
		fd,
		bytes.map((byte) => byte ^ 0xff),
		0,
		20,
		middle,
	);
	closeSync(fd);
}

describe("acknowledged jobs that are missing", () => {
	const damages: [string, (home: TestHome) => void, RegExp][] = [
		["the WAL was deleted", (home) => rmSync(file(home, "-wal")), /sluice\.db-wal is not there/],
		["the WAL was emptied", (home) => truncateSync(file(home, "-wal")), /sluice\.db-wal is empty/],
		["20 bytes of the WAL were changed", (home) => flip(file(home, "-wal")), /sluice\.db-wal is there/],
		["the WAL was cut", (home) => truncateSync(file(home, "-wal"), 40_000), /sluice\.db-wal is there/],
		["sluice.db was emptied", (home) => truncateSync(file(home)), /sluice\.db is empty/],
		["sluice.db was deleted", (home) => rmSync(file(home)), /sluice\.db is not there/],
		[
			"all three files were deleted",
			(home) => {
				for (const end of ["", "-wal", "-shm"]) rmSync(file(home, end));
			},
			/sluice\.db is not there/,
		],
	];
	test.each(damages)("%s: start and doctor say so, and change nothing", async (_, damage, found) => {
		const home = await killedHome();
		damage(home);
		const before = ["", "-wal"].map((end) => (existsSync(file(home, end)) ? readFileSync(file(home, end)) : null));
		const said = await refusedStart(home);
		expect(said).toMatch(/acknowledged jobs are missing/);
		expect(said).toMatch(found);
		expect(said).toMatch(/held jobs up to 9/);
		expect(said).toMatch(/back-up/);
		expect(said).toContain("sluice up --accept-loss");
		expect(said).not.toMatch(/^\s+at /m);
		const doctor = JSON.parse((await home.run(["doctor", "--json"])).out) as { ok: boolean; checks: { name: string; detail: string }[] };
		expect(doctor.ok).toBe(false);
		expect(doctor.checks.find(({ name }) => name === "store")).toMatchObject({ ok: false, detail: expect.stringMatching(found) });
		expect(["", "-wal"].map((end) => (existsSync(file(home, end)) ? readFileSync(file(home, end)) : null))).toEqual(before);
	});

	test("a command that would start the daemon is refused with the same words; --accept-loss goes on with new numbers", async () => {
		const home = await killedHome();
		truncateSync(file(home, "-wal"));
		const refused = await home.run(["add", "--", "true"]);
		expect(refused).toMatchObject({ code: 1, out: "" });
		expect(refused.err).toContain("acknowledged jobs are missing");
		expect(refused.err).toContain("sluice up --accept-loss");
		expect(await home.run(["up", "--detach", "--accept-loss"])).toMatchObject({ code: 0 });
		expect(home.log()).toContain("acknowledged jobs are missing");
		// No number of a lost job is given again: nothing that still speaks of job 9 means the new one.
		const { out } = await home.run(["add", "--", "true"]);
		expect(Number(out)).toBeGreaterThan(9);
		expect((await home.run(["doctor"])).out).toMatch(/^ok +store/m);
		expect(await home.run(["down"])).toMatchObject({ code: 0 });
		expect(await listed(home)).toBe(0);
	});

	test("changes alone that are missing are said as well: what has ended may run again", async () => {
		const home = await killedHome();
		const old = ["", "-wal"].map((end) => readFileSync(file(home, end)));
		const { client, child } = await home.up();
		await client.call("job.cancel", { id: 1 });
		await home.kill(child);
		for (const [index, end] of ["", "-wal"].entries()) {
			rmSync(file(home, "-shm"), { force: true });
			const fd = openSync(file(home, end), "w");
			writeSync(fd, old[index] as Buffer);
			closeSync(fd);
		}
		const said = await refusedStart(home);
		expect(said).toMatch(/events \d+ to \d+/);
		expect(said).toMatch(/may run again/);
	});
});

describe("no false alarm", () => {
	test("kill -9, again and again", async () => {
		const home = await killedHome();
		for (let round = 1; round <= 3; round++) expect(await listed(home)).toBe(JOBS);
	});

	test("a home of an older version, without the mark", async () => {
		const home = await killedHome();
		rmSync(file(home, "-mark"));
		expect(await listed(home)).toBe(JOBS);
		expect(existsSync(file(home, "-mark"))).toBe(true);
	});

	test("a back-up that is put back as docs/operating.md says", async () => {
		const home = await killedHome();
		const copy = join(makeFolder(), "monday.db");
		expect(await home.run(["backup", copy])).toMatchObject({ code: 0 });
		const { client } = await home.up();
		for (let count = 0; count < 5; count++) await client.call("job.add", { command: ["true"] });
		expect(await home.run(["down"])).toMatchObject({ code: 0 });
		for (const end of ["-wal", "-shm"]) rmSync(file(home, end), { force: true });
		copyFileSync(copy, file(home));
		expect((await home.run(["doctor"])).out).toMatch(/^ok +store/m);
		expect(await listed(home)).toBe(JOBS);
		expect(await listed(home)).toBe(JOBS);
	});

	test("a home that was copied after sluice down, and an older copy of it in its place", async () => {
		const home = await killedHome();
		const { client } = await home.up();
		expect(await home.run(["down"])).toMatchObject({ code: 0 });
		client.close();
		const other = new TestHome();
		copyHome(home.path, other.path);
		expect(await listed(home)).toBe(JOBS);
		expect(await listed(other)).toBe(JOBS);
	});

	test("another home's queue in its place", async () => {
		const [home, other] = [await killedHome(), await makeKilledHome(2)];
		for (const end of ["", "-wal"]) copyFileSync(file(other, end), file(home, end));
		rmSync(file(home, "-shm"));
		expect(await listed(home)).toBe(2);
	});

	test("a full disk", async ({ skip }) => {
		const folder = makeFolder();
		const disk = mountSmallDisk(folder, "16m");
		if (disk === null) skip("needs root, to mount a small disk");
		const home = new TestHome(join(folder, "home"));
		home.make();
		const { child, client } = await home.up();
		await client.call("scheduler.pause", {});
		await client.call("job.add", { command: ["true"] });
		disk?.fill();
		for (let count = 0; count < 30; count++) await client.call("job.add", { command: ["true"] }).catch(() => {});
		const { jobs } = (await client.call("job.list", {})) as { jobs: unknown[] };
		await home.kill(child);
		disk?.free();
		expect(await listed(home)).toBe(jobs.length);
	});
});

test("sluice down leaves everything in sluice.db alone", async () => {
	const home = await killedHome();
	const { client } = await home.up();
	await client.call("job.add", { command: ["true"] });
	// Another client that reads must not hold the checkpoint back.
	await client.call("job.list", {});
	expect(await home.run(["down"])).toMatchObject({ code: 0 });
	expect(statSync(file(home, "-wal"), { throwIfNoEntry: false })?.size ?? 0).toBe(0);
	const alone = join(makeFolder(), "alone.db");
	copyFileSync(file(home), alone);
	const count = withDatabase(alone, (database) => {
		const statement = database.prepare("SELECT count(*) FROM job");
		statement.setReturnArrays(true);
		return (statement.all()[0] as unknown[])[0];
	});
	expect(Number(count)).toBe(JOBS + 1);
});
