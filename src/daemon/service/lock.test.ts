// One daemon for each home, with real processes: the second one learns which process holds the lock; the holder's death, however sudden, frees it.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { makeProgram } from "../../../test/make/daemons/program.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { readRecord, takeLock } from "./lock.ts";

let holder = "";
let racer = "";
beforeAll(() => {
	holder = makeProgram("test/race/lock-holder.ts");
	racer = makeProgram("test/race/lock-racer.ts");
});

const paths = () => {
	const home = makeFolder();
	return { lock: join(home, "lock.db"), record: join(home, "daemon.json") };
};

const start = ({ lock, record }: { lock: string; record: string }) => run(holder, lock, record);

async function run(program: string, ...args: string[]): Promise<{ child: ChildProcess; said: string }> {
	const child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
	onTestFinished(() => {
		child.kill("SIGKILL");
	});
	const [said] = (await once(child.stdout!, "data")) as [Buffer];
	return { child, said: String(said).trim() };
}

test("a second process learns the pid of the holder; kill -9 of the holder frees the lock at once", async () => {
	const home = paths();
	const first = await start(home);
	expect(first.said).toBe("held");
	const second = await start(home);
	expect(second.said).toBe(
		`a daemon is running in this home already (pid ${first.child.pid}, version 9.9.9, since 2030-01-01T00:00:00.000Z)`,
	);
	expect(() => takeLock(home.lock, home.record)).toThrow(/running in this home already/);
	first.child.kill("SIGKILL");
	await once(first.child, "exit");
	const third = await start(home);
	expect(third.said).toBe("held");
	expect(readRecord(home.record)?.pid).toBe(third.child.pid);
});

test("what a dead daemon left behind is no obstacle", () => {
	const home = paths();
	writeFileSync(home.record, '{"pid": 1, "version": "0.0.1", "port": null, "started_at": "x"}');
	takeLock(home.lock, home.record).release();
	takeLock(home.lock, home.record).release();
});

test("a lock file that is no database, or a half-written record, is no obstacle", () => {
	const home = paths();
	writeFileSync(home.lock, "this is not a database at all, but it is long enough to look like something ".repeat(20));
	writeFileSync(home.record, '{"pid": 12');
	const lock = takeLock(home.lock, home.record);
	expect(() => takeLock(home.lock, home.record)).toThrow("it has not said its pid yet");
	lock.release();
});

test("the lock and its journal are the owner's alone, also where they were open to others; the lock is not lost by that", () => {
	const home = paths();
	const journal = `${home.lock}-journal`;
	const modes = () => [home.lock, journal].flatMap((path) => (existsSync(path) ? [(statSync(path).mode & 0o777).toString(8)] : []));
	takeLock(home.lock, home.record).release();
	expect(modes()).toEqual(["600"]);
	chmodSync(home.lock, 0o644);
	writeFileSync(journal, "", { mode: 0o644 });
	const lock = takeLock(home.lock, home.record);
	expect(new Set(modes())).toEqual(new Set(["600"]));
	expect(() => takeLock(home.lock, home.record)).toThrow(/running in this home already/);
	lock.release();
});

test("a lock that cannot be opened is refused with the reason", () => {
	const home = paths();
	expect(() => takeLock(join(home.lock, "nowhere"), home.record)).toThrow(/cannot be taken/);
});

test("of several processes that start at the same moment exactly one gets the lock", async () => {
	const folder = makeFolder();
	const racers = await Promise.all(Array.from({ length: 3 }, () => run(racer, folder, "6")));
	const got = racers.flatMap(({ said }) => JSON.parse(said) as number[]);
	expect(got.sort((a, b) => a - b)).toEqual(Array.from({ length: 6 }, (_, round) => round));
});
