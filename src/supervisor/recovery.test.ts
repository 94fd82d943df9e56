// A daemon that died and came back: what it finds, what it continues, and what it never does twice.

import { rmSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { FakeProcesses } from "../../test/make/fake-processes.ts";
import { MINUTE, SECOND } from "../../test/make/fakes.ts";
import { supervise } from "../../test/make/supervised.ts";
import { localDisk } from "../host/disk.ts";

describe("after a crash", () => {
	test("a live run goes on untouched, with its token, and ends as if nothing had happened", async () => {
		const before = await supervise();
		const job = await before.add();
		const token = before.processes.machine.launched[0]!.env.SLUICE_TOKEN!;
		const on = await before.crash();
		expect(on.supervisor.live()).toEqual([
			{
				run: "1.1",
				job,
				pid: expect.any(Number),
				since: expect.any(Number),
				frozen: false,
				attached: null,
				progress: expect.objectContaining({ last_line: null }),
			},
		]);
		expect(on.supervisor.roleOfToken(token)).toEqual({ job, run: "1.1", token: expect.any(Number) });
		expect(on.processes.machine.signals).toEqual([]);
		on.processes.exit("1.1", 0);
		await on.settle();
		expect(await on.show(job)).toMatchObject({ status: "succeeded", attempt: 1 });
		expect(on.supervisor.roleOfToken(token)).toBeNull();
		expect(on.processes.machine.launched.length).toBe(1);
	});

	test("a run that ended meanwhile ends with the code its shim wrote down", async () => {
		const before = await supervise();
		const [good, bad] = [await before.add(), await before.add()];
		before.processes.onExit(() => {});
		before.processes.exit("1.1", 0);
		before.processes.log("2.1", "stderr", "it broke\n");
		before.processes.exit("2.1", 7);
		const on = await before.crash({ awayMs: MINUTE });
		expect((await on.show(good)).status).toBe("succeeded");
		expect(await on.show(bad)).toMatchObject({ status: "failed", exit_code: 7, end_reason: "it broke" });
		expect(on.file("2.1", "outcome.json")).toMatchObject({ exit_kind: "failed", exit_code: 7 });
	});

	test("a verdict that a run left in its folder is recorded before its end is judged; a file that cannot be read is ignored", async () => {
		const before = await supervise();
		const [no, damaged] = [await before.add(), await before.add()];
		before.processes.onExit(() => {});
		writeFileSync(before.path("1.1", "said.json"), '{"version":1,"verdict":{"verdict":"fail","text":"it deletes all users"},"result":[1]}');
		writeFileSync(before.path("2.1", "said.json"), '{"version":1,"verd');
		for (const run of ["1.1", "2.1"]) before.processes.exit(run, 0);
		const on = await before.crash({ awayMs: MINUTE });
		await on.settle();
		expect(await on.show(no)).toMatchObject({
			status: "failed",
			exit_code: 1,
			end_reason: "it deletes all users",
			verdict: { verdict: "fail" },
			result: "[1]",
		});
		expect(on.file("1.1", "outcome.json")).toMatchObject({ exit_kind: "failed", verdict: { verdict: "fail" } });
		expect(await on.show(damaged)).toMatchObject({ status: "succeeded" });
	});

	test("a claimed run without a start marker is started as the same attempt, with or without its folder", async () => {
		const before = await supervise();
		before.processes.prompt = false;
		const [one, two] = [await before.add(), await before.add()];
		before.processes.machine.pending.clear();
		rmSync(before.path("2.1", ""), { recursive: true });
		const on = await before.crash();
		expect(on.processes.machine.launched.slice(2).map((launch) => launch.run)).toEqual(["1.1", "2.1"]);
		on.processes.exit("1.1", 0);
		on.processes.exit("2.1", 0);
		await on.settle();
		for (const job of [one, two]) expect(await on.show(job)).toMatchObject({ status: "succeeded", attempt: 1 });
	});

	test("a slow launcher does no harm: the attempt starts once, and its token stays valid", async () => {
		const before = await supervise();
		before.processes.prompt = false;
		const job = await before.add();
		const old = before.processes.machine.launched[0]!;
		const on = await before.crash({ start: "later" });
		on.processes.prompt = false;
		await on.supervisor.start();
		await on.settle();
		// Both launchers, the old daemon's and the new one's, have the run in their pipe.
		on.processes.start("1.1");
		on.processes.machine.pending.set("1.1", old);
		on.processes.start("1.1");
		expect(on.processes.machine.shims.size).toBe(1);
		expect(on.supervisor.roleOfToken(old.env.SLUICE_TOKEN!)).toMatchObject({ job });
	});

	test("a run that is gone is lost; what it left behind goes first", async () => {
		const before = await supervise();
		const job = await before.add({ retry: 1 });
		const child = before.processes.child("home-1.1", ["SIGTERM"]);
		before.processes.vanish("1.1");
		const on = await before.crash();
		expect(child.got).toEqual(["SIGTERM", "SIGCONT"]);
		expect((await on.show(job)).status).toBe("running");
		await on.pass(11 * SECOND);
		expect(child.got.at(-1)).toBe("SIGKILL");
		expect(await on.show(job)).toMatchObject({ status: "queued", exit_kind: "lost", failures: 1 });
		expect(on.file("1.1", "outcome.json")).toMatchObject({ exit_kind: "lost", message: "scheduler recovery" });
	});

	test("a run that a reboot ended costs no retry", async () => {
		const before = await supervise({ config: { max_concurrent: 1 } });
		const job = await before.add();
		before.processes.reboot();
		const on = await before.crash();
		await on.settle();
		expect(await on.show(job)).toMatchObject({ status: "running", attempt: 2 });
		expect((await on.show(job)).failures).toBeUndefined();
	});

	test("a run whose folder was removed is lost, not started again", async () => {
		const before = await supervise();
		const job = await before.add();
		await before.pass(SECOND);
		rmSync(before.path("1.1", ""), { recursive: true });
		const on = await before.crash();
		await on.pass(SECOND);
		expect(await on.show(job)).toMatchObject({ status: "failed", exit_kind: "lost" });
		expect(on.processes.machine.launched.length).toBe(1);
	});

	test("a half-written exit counts as none", async () => {
		const before = await supervise();
		const job = await before.add();
		writeFileSync(before.path("1.1", "exit"), "1 ");
		const on = await before.crash();
		expect((await on.show(job)).status).toBe("running");
		on.processes.vanish("1.1");
		await on.pass(6 * SECOND);
		expect((await on.show(job)).exit_kind).toBe("lost");
	});

	test("a stop that was requested before the crash is continued", async () => {
		const before = await supervise({ settings: { agents: { a: { command: ["a"] } } } });
		before.processes.prompt = false;
		const job = await before.add({ agent: "a", prompt: "x" });
		before.processes.start("1.1", ["SIGINT"]);
		await before.settle();
		await before.sluice.cancel(job, { reason: "enough" });
		await before.settle();
		expect(before.processes.machine.signals).toEqual(["1.1 SIGINT"]);
		const on = await before.crash();
		await on.pass(6 * SECOND);
		expect(on.processes.machine.signals).toEqual(["1.1 SIGINT", "1.1 SIGINT", "1.1 SIGTERM"]);
		expect(await on.show(job)).toMatchObject({ status: "cancelled", end_reason: "enough" });
	});

	test("a stop of a run that never started keeps it from starting", async () => {
		const before = await supervise();
		before.processes.prompt = false;
		const job = await before.add();
		const old = before.processes.machine.launched[0]!;
		// The stop is recorded, but the daemon dies before it is notified.
		const [assigned] = await before.sluice.assigned("here");
		before.host.clear();
		await before.sluice.stop({ job, token: assigned!.run.token }, { kind: "preempted", reason: "later" });
		const on = await before.crash({ config: { max_concurrent: 1 } });
		on.processes.machine.pending.set("1.1", old);
		on.processes.start("1.1");
		expect([...on.processes.machine.shims.keys()]).not.toContain("home-1.1");
		expect((await on.sluice.history(job)).find((event) => event.kind === "requeued")?.data).toMatchObject({ exit_kind: "preempted" });
	});

	test("time without a daemon counts: a run past its timeout is stopped at once", async () => {
		const before = await supervise();
		const [late, early] = [await before.add({ timeout: "1m" }), await before.add({ timeout: "10m" })];
		const on = await before.crash({ awayMs: 5 * MINUTE });
		await on.pass(SECOND);
		expect(await on.show(late)).toMatchObject({ exit_kind: "timeout" });
		expect((await on.show(early)).status).toBe("running");
		await on.pass(5 * MINUTE);
		expect((await on.show(early)).exit_kind).toBe("timeout");
	});

	test("processes with this home's mark but no assigned run are ended; those of other homes stay", async () => {
		const before = await supervise();
		const leftover = before.processes.child("home-77.1");
		const other = before.processes.child("homes-77.1");
		const similar = before.processes.child("home-x-77.1");
		await before.add();
		const on = await before.crash();
		await on.pass(SECOND);
		expect(leftover.got).toEqual(["SIGTERM"]);
		expect([other.got, similar.got]).toEqual([[], []]);
		expect(on.supervisor.live().length).toBe(1);
	});

	test("a frozen run stays frozen, and gets SIGCONT when it is stopped", async () => {
		const before = await supervise();
		const job = await before.add({ timeout: "1m" });
		await before.supervisor.freeze({});
		const on = await before.crash();
		await on.pass(5 * MINUTE);
		expect((await on.show(job)).status).toBe("running");
		await on.sluice.cancel(job);
		await on.settle();
		expect(on.processes.machine.signals.slice(-3)).toContain("1.1 SIGCONT");
		expect((await on.show(job)).status).toBe("cancelled");
	});
});

test("killed at any step of its life, a run starts once, ends once, and leaves nothing", async () => {
	for (const step of ["claimed", "folder-made", "launched", "started", "exit-seen", "outcome-written", "completed"]) {
		let dead = false;
		const never = () => new Promise<never>(() => {});
		const dying = new FakeProcesses();
		const { launch } = dying;
		dying.launch = (one) => (dead ? never() : launch.call(dying, one));
		const before = await supervise({
			processes: dying,
			disk: { write: (path, text) => (dead ? undefined : localDisk.write(path, text)) },
			scheduler: (real) => ({
				...real,
				// `complete` takes effect in a later turn: a daemon that dies in between loses it.
				complete: (ending) => Promise.resolve().then(() => (dead ? never() : real.complete(ending))),
			}),
			step: (at) => {
				dead ||= at === step;
			},
		});
		const job = await before.add();
		// Short runs are never reported as started.
		if (step === "started") await before.pass(SECOND);
		if (dying.machine.shims.has("home-1.1")) dying.exit("1.1", 0);
		await before.settle();
		expect([step, dead]).toEqual([step, true]);
		const on = await supervise({ folder: before.folder, clock: before.clock, processes: new FakeProcesses(dying.machine) });
		if (on.processes.machine.shims.has("home-1.1")) on.processes.exit("1.1", 0);
		await on.pass(SECOND);
		expect([step, (await on.show(job)).status, (await on.show(job)).attempt]).toEqual([step, "succeeded", 1]);
		expect((await on.sluice.history(job)).filter((event) => event.kind === "ended").length).toBe(1);
		expect(on.file("1.1", "outcome.json")).toMatchObject({ exit_kind: "completed" });
		expect(on.supervisor.idle()).toBe(true);
	}
});
