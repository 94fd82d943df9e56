// daemon.log: one line for each event, no secrets, limited in size, and a failure to write stops nothing.

import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FakeClock } from "../../../test/make/fakes.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { openLog } from "./log.ts";

test("a line has its time, its level and its fields", () => {
	const path = join(makeFolder(), "daemon.log");
	const log = openLog({ path, clock: new FakeClock() });
	log.info("the daemon is up", { pid: 7, home: "/x y", none: undefined });
	log.error("two\nlines", { error: new Error("so it goes") });
	log.close();
	expect(readFileSync(path, "utf8")).toBe(
		'2026-01-05T12:00:00.000Z info  the daemon is up pid=7 home="/x y"\n2026-01-05T12:00:00.000Z error two ⏎ lines error="so it goes"\n',
	);
	expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("secrets are masked: by the name of a field at any depth, and by value", () => {
	const path = join(makeFolder(), "daemon.log");
	const log = openLog({ path, clock: new FakeClock(), secrets: () => ["*_KEY"], masked: ["hunter2"] });
	log.info("with hunter2 in it", { api_key: "abc", env: { OPENAI_API_KEY: "def", HOME: "/h" }, note: "hunter2!" });
	expect(readFileSync(path, "utf8")).toMatch(/with ••• in it api_key="•••" env=\{"OPENAI_API_KEY":"•••","HOME":"\/h"\} note="•••!"\n$/);
	log.close();
});

test("the names of secrets are read as in documents: case does not count, and apiKey is api_key", () => {
	const path = join(makeFolder(), "daemon.log");
	const log = openLog({ path, clock: new FakeClock(), secrets: () => ["*_key", "*Pin"] });
	log.info("so", { apiKey: "hush", "x-key": "hush", door_pin: "hush", plain: "seen" });
	expect(readFileSync(path, "utf8")).toMatch(/ apiKey="•••" x-key="•••" door_pin="•••" plain=seen\n$/);
	log.close();
});

test("is rotated, and only the newest files are kept", () => {
	const path = join(makeFolder(), "daemon.log");
	const log = openLog({ path, clock: new FakeClock(), maxBytes: 1000, keep: 2 });
	for (let n = 0; n < 100; n++) log.info(`line ${n}`);
	log.close();
	expect([`${path}`, `${path}.1`, `${path}.2`, `${path}.3`].map((one) => existsSync(one))).toEqual([true, true, true, false]);
	for (const one of [path, `${path}.1`, `${path}.2`]) expect(statSync(one).size).toBeLessThanOrEqual(1000);
	expect(readFileSync(path, "utf8")).toContain("line 99");
});

test("a log that cannot be written does not stop the daemon", () => {
	const folder = makeFolder();
	const log = openLog({ path: join(folder, "gone", "daemon.log"), clock: new FakeClock() });
	log.info("nobody hears this");
	rmSync(folder, { recursive: true });
	log.error("nor this");
	log.close();
});
