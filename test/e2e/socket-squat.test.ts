// Another user of the machine cannot put a listener between the commands of a home and its daemon, nor keep the daemon from starting.

import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { asSecondUser, CAN_ACT_AS_ANOTHER, listenAsSecondUser, SECOND_USER } from "../make/daemons/second-user.ts";
import { makeFolder } from "../make/folder.ts";

const SECOND = CAN_ACT_AS_ANOTHER ? "" : " (needs root, to act as a second user)";

/** A home whose path is too long for a socket, beside a temporary folder in which every user may make files. */
function longHome(): { home: TestHome; tmp: string; env: { TMPDIR: string } } {
	const folder = makeFolder();
	chmodSync(folder, 0o755);
	const tmp = join(folder, "tmp");
	mkdirSync(tmp);
	chmodSync(tmp, 0o1777);
	const home = new TestHome(join(folder, "x".repeat(100), "home"));
	home.make();
	return { home, tmp, env: { TMPDIR: tmp } };
}

const socketIn = (home: TestHome): string => readFileSync(join(home.path, "socket"), "utf8").trim();

describe("a home whose path is too long for a socket", () => {
	test("has its socket in a folder of its owner's alone, which a restart takes again and `down` removes", async () => {
		const { home, tmp, env } = longHome();
		const { child } = await home.up(env);
		const socket = socketIn(home);
		expect(dirname(dirname(socket))).toBe(tmp);
		expect(lstatSync(dirname(socket))).toMatchObject({ uid: process.getuid?.() });
		expect((statSync(dirname(socket)).mode & 0o777).toString(8)).toBe("700");
		expect((statSync(socket).mode & 0o777).toString(8)).toBe("600");
		expect((statSync(join(home.path, "socket")).mode & 0o777).toString(8)).toBe("600");
		await home.kill(child);
		const again = await home.up(env);
		expect(socketIn(home)).toBe(socket);
		const down = await home.run(["down"], { env });
		expect([down.code, down.err]).toEqual([0, expect.stringContaining("stopped")]);
		await home.gone(again.child);
		expect(readdirSync(tmp)).toEqual([]);
		expect(existsSync(join(home.path, "socket"))).toBe(false);
		// A command starts a daemon by itself, and its programs find the way, with SLUICE_SOCKET alone, too.
		const added = await home.run(["add", "--wait", "--", process.execPath, TestHome.command(), "status", "--json"], { env });
		expect(added).toMatchObject({ code: 0 });
		const bare = ["env", "-u", "SLUICE_HOME", process.execPath, TestHome.command(), "status", "--json"];
		expect(await home.run(["add", "--wait", "--", ...bare], { env })).toMatchObject({ code: 0 });
	});

	test("keeps the folder while runs go on after `down`: their SLUICE_SOCKET stays right", async () => {
		const { home, env } = longHome();
		const { client, child } = await home.up(env);
		const gate = join(home.path, "gate");
		const script = `until test -e ${gate}; do sleep 0.05; done; exec "$@"`;
		const status = ["env", "-u", "SLUICE_HOME", process.execPath, TestHome.command(), "status", "--json"];
		await client.call("job.add", { command: ["sh", "-c", script, "sh", ...status] });
		await until(async () => (await client.call("job.show", { id: 1 })).job.run?.pid);
		const socket = socketIn(home);
		await client.call("scheduler.down", { grace_ms: 0 });
		await home.gone(child);
		expect(existsSync(dirname(socket))).toBe(true);
		const next = await home.up(env);
		expect(socketIn(home)).toBe(socket);
		mkdirSync(gate);
		await until(async () => (await next.client.call("job.show", { id: 1 })).job.status === "succeeded");
	});

	test("of five daemons that start at once one is left, and commands reach it", async () => {
		const { home, tmp, env } = longHome();
		const children = Array.from({ length: 5 }, () => home.spawn(env));
		const over = () => children.filter(({ exitCode }) => exitCode !== null);
		await until(() => over().length === 4);
		expect(over().map(({ exitCode }) => exitCode)).toEqual(Array(4).fill(4));
		const [left] = children.filter(({ exitCode }) => exitCode === null);
		expect(await home.run(["status"], { env })).toMatchObject({ code: 0 });
		await until(() => existsSync(join(home.path, "daemon.json")));
		expect(JSON.parse(readFileSync(join(home.path, "daemon.json"), "utf8"))).toMatchObject({ pid: left?.pid });
		expect(readdirSync(tmp)).toHaveLength(1);
	});

	test("is found through a short link as well", async () => {
		const { home, env } = longHome();
		await home.up(env);
		const link = join(makeFolder(), "h");
		symlinkSync(home.path, link);
		expect(await home.run(["--home", link, "status"], { env })).toMatchObject({ code: 0 });
	});

	test.skipIf(!CAN_ACT_AS_ANOTHER)(`starts although another user has made the folders that it might take${SECOND}`, async () => {
		const { home, tmp, env } = longHome();
		const squatted = join(tmp, `sluice-${process.getuid?.()}`);
		expect(asSecondUser(`mkdir -m 0777 ${squatted}`)).toBe(0);
		expect(await home.run(["up", "--detach"], { env })).toMatchObject({ code: 0 });
		expect(readdirSync(squatted)).toEqual([]);
		const folder = dirname(socketIn(home));
		expect(asSecondUser(`mv ${folder} ${tmp}/moved || ls ${folder} || touch ${folder}/x || rmdir ${folder}`)).not.toBe(0);
		expect(await home.run(["status"], { env })).toMatchObject({ code: 0 });
	});

	test.skipIf(!CAN_ACT_AS_ANOTHER)(
		`a listener in place of its socket is sent nothing, and does not stop the next daemon${SECOND}`,
		async () => {
			const { home, env } = longHome();
			const { child } = await home.up(env);
			const socket = socketIn(home);
			await home.kill(child);
			// As if a clean-up of the temporary folder had removed it: its name is free to be taken.
			rmSync(dirname(socket), { recursive: true });
			expect(asSecondUser(`mkdir -m 0777 ${dirname(socket)}`)).toBe(0);
			const { heard } = await listenAsSecondUser(socket);
			const ofRun = { SLUICE_SOCKET: socket, SLUICE_TOKEN: "the-token-of-a-run", SLUICE_JOB_ID: "7", SLUICE_RUN_ID: "7.1" };
			const inside = await home.run(["add", "--", "true"], { env: { ...env, ...ofRun, SLUICE_HOME: "" } });
			expect(inside.code).not.toBe(0);
			expect(inside.err).toContain(`${dirname(socket)} belongs to another user (${SECOND_USER})`);
			const outside = await home.run(["add", "-q", "--", "true"], { env });
			expect(outside).toMatchObject({ code: 0, out: "1\n" });
			expect(socketIn(home)).not.toBe(socket);
			expect(heard()).toBe("");
		},
	);
});

describe("a home of another user", () => {
	test.skipIf(!CAN_ACT_AS_ANOTHER)(`is refused before a command connects, also by root${SECOND}`, async () => {
		const theirs = join(makeFolder(), "theirs");
		chmodSync(dirname(theirs), 0o755);
		mkdirSync(theirs);
		chmodSync(theirs, 0o777);
		chownSync(theirs, SECOND_USER, SECOND_USER);
		const { heard } = await listenAsSecondUser(join(theirs, "sluice.sock"));
		const home = new TestHome(theirs);
		for (const args of [["status"], ["add", "--", "true"], ["down"], ["up", "--detach"], ["doctor"]]) {
			const said = await home.run(args, { env: { SECRET_TOKEN: "s" } });
			expect([args, said.code === 0]).toEqual([args, false]);
			expect(said.err + said.out).toContain(`${theirs} belongs to another user (${SECOND_USER})`);
		}
		expect(heard()).toBe("");
		expect(readdirSync(theirs)).toEqual(["sluice.sock"]);
	});

	test.skipIf(!CAN_ACT_AS_ANOTHER)(`is refused where no daemon runs as well, by commands that only read, too${SECOND}`, async () => {
		const theirs = join(makeFolder(), "theirs");
		mkdirSync(theirs, { mode: 0o700 });
		chownSync(theirs, SECOND_USER, SECOND_USER);
		const home = new TestHome(theirs);
		for (const args of [
			["status"],
			["status", "--json"],
			["list"],
			["config", "get", "env"],
			["config", "set", "max_concurrent", "2"],
			["down"],
		]) {
			const said = await home.run(args);
			expect([args, said.code, said.out]).toEqual([args, 2, ""]);
			expect(said.err).toContain(`${theirs} belongs to another user (${SECOND_USER})`);
		}
		expect(readdirSync(theirs)).toEqual([]);
	});

	test.skipIf(!CAN_ACT_AS_ANOTHER)(`a socket of another user in a home of one's own is refused${SECOND}`, async () => {
		const home = new TestHome();
		home.make();
		chmodSync(dirname(home.path), 0o755);
		chmodSync(home.path, 0o777);
		const { heard } = await listenAsSecondUser(join(home.path, "sluice.sock"));
		const open = await home.run(["status"]);
		expect([open.code, open.err]).toEqual([expect.any(Number), expect.stringContaining("chmod 700")]);
		chmodSync(home.path, 0o700);
		const closed = await home.run(["status"]);
		expect(closed.err).toContain(`sluice.sock belongs to another user (${SECOND_USER})`);
		expect(heard()).toBe("");
		// The daemon of this home removes it, and is there.
		await home.up();
		expect(await home.run(["status"])).toMatchObject({ code: 0 });
	});

	test("a folder above the home that every user may change is refused", async () => {
		const home = new TestHome(join(makeFolder(), "open", "home"));
		home.make();
		await home.up();
		chmodSync(join(home.path, ".."), 0o777);
		const said = await home.run(["status"]);
		expect(said.code).not.toBe(0);
		expect(said.err).toContain(`${dirname(home.path)} can be changed by other users`);
	});
});
