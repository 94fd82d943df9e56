// The judges of a fleet's rounds: what they must find, planted one at a time in a story that is all right.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { PROGRAM } from "../chaos/fleet/program.ts";
import { judgeLines, judgeViolations, type Line, readLines } from "../chaos/fleet/proofs.ts";
import { type Harm, replay, type Told } from "../chaos/fleet/replay.ts";
import { CAPS, drawWork, type Piece } from "../chaos/fleet/work.ts";
import { strays } from "../chaos/processes.ts";
import { randomOf } from "../chaos/work.ts";
import { until } from "./make/daemons/daemon.ts";
import { makeFolder } from "./make/folder.ts";

const piece = (name: string, more: Partial<Piece> = {}): Piece => ({
	name,
	fails: 0,
	retries: 1,
	lane: "default",
	exclusive: null,
	shared: null,
	after: [],
	ms: 10,
	deaf: false,
	cancel: false,
	...more,
});

/** A story: what happens one after the other, a second apart. */
class Story {
	readonly events: Told[] = [];
	readonly lines: Line[] = [];
	readonly pieces = new Map<number, Piece>();
	constructor(...pieces: Piece[]) {
		for (const [at, one] of pieces.entries()) this.pieces.set(at + 1, one);
	}
	get now() {
		return (this.events.length + this.lines.length + 1) * 1000;
	}
	event(kind: string, job: number | null, data: Record<string, unknown>): this {
		this.events.push({ seq: this.events.length + 1, at: this.now, kind, job, data });
		return this;
	}
	line(what: Line["what"], run: string, host = "a"): this {
		this.lines.push({ what, run, host, at: this.now });
		return this;
	}
	start = (job: number, attempt = 1, host = "a") =>
		this.event("started", job, { from: "queued", to: "running", attempt, worker: `host:${host}` }).line("begin", `${job}.${attempt}`, host);
	end = (job: number, attempt = 1, host = "a") =>
		this.line("end", `${job}.${attempt}`, host).event("ended", job, { from: "running", to: "succeeded", exit_kind: "completed", attempt });
	lose = (job: number, attempt = 1) =>
		this.event("requeued", job, { from: "running", to: "queued", exit_kind: "lost", attempt, message: "scheduler recovery" });
	loseHost = (host: string) => this.event("host_lost", null, { host });
	judge(harms: Harm[] = []): string[] {
		const { faults, attempts } = replay(this.events, this.pieces, harms);
		return [...faults, ...judgeLines(this.lines, attempts, this.pieces, harms).faults];
	}
}

const twice = (): [Piece, Piece] => [piece("p", { exclusive: "x" }), piece("q", { exclusive: "x" })];

describe("a story that is all right", () => {
	test("has no faults: one after the other, a lost host's job run again elsewhere", () => {
		const story = new Story(...twice()).start(1).end(1).start(2).loseHost("a").lose(2).start(2, 2, "b").end(2, 2, "b");
		expect(story.judge()).toEqual([]);
	});

	test("a suspended machine may have programs beyond its lease, and they count for nothing", () => {
		const suspended: Harm = { host: "a", what: "suspend", from: 3000, to: 9000, kills: false };
		const story = new Story(piece("p")).start(1).loseHost("a").lose(1).start(1, 2, "b").line("end", "1.1").end(1, 2, "b");
		expect(story.judge([suspended])).toEqual([]);
		expect(story.judge()).toHaveLength(2);
	});
});

describe("is found:", () => {
	const found = (story: Story, ...words: string[]) => {
		const faults = story.judge();
		for (const word of words) expect(faults.join("\n")).toContain(word);
		expect(faults.length).toBeGreaterThan(0);
	};

	test("an exclusive key that two have at once, by the events and by the programs", () => {
		found(new Story(...twice()).start(1).start(2).end(1).end(2), "has x to itself beside p", "had a key at once");
	});
	test("a shared key beside one who has it alone", () => {
		found(new Story(piece("p", { exclusive: "x" }), piece("q", { shared: "x" })).start(1).start(2).end(2).end(1), "shares x", "at once");
	});
	test("a cap that is exceeded: of all, of a host, of a lane", () => {
		const many = Array.from({ length: CAPS.all + 1 }, (_, n) => piece(`p${n}`, { lane: "builds" }));
		const story = new Story(...many);
		for (const n of many.keys()) story.start(n + 1, 1, `h${n % 3}`);
		found(
			story,
			`${CAPS.all + 1} runs in all`,
			`${CAPS.host + 1} runs in`,
			"4 runs in lane:builds",
			`${CAPS.all + 1} programs at once in all`,
		);
	});
	test("an end that comes twice, and one that never comes", () => {
		found(new Story(piece("p")).start(1).end(1).end(1), "ended 2 times");
		found(new Story(piece("p")).start(1), "has no end", "ended 0 times");
	});
	test("a job that goes on after its end", () => {
		found(new Story(piece("p")).start(1).end(1).start(1, 2).end(1, 2), "went on after its end");
	});
	test("two attempts of one job at once, as programs", () => {
		found(
			new Story(piece("p")).start(1).loseHost("a").lose(1).start(1, 2, "b").line("end", "1.1").end(1, 2, "b"),
			"two attempts of one job",
		);
	});
	test("a run that was lost without a cause", () => {
		found(new Story(piece("p")).start(1).lose(1).start(1, 2).end(1, 2), "without a cause");
	});
	test("a retry that the policy does not allow, and one that it demands", () => {
		found(new Story(piece("p", { retries: 0 })).start(1).loseHost("a").lose(1).start(1, 2).end(1, 2), "1 failures of 0 allowed");
		const given = new Story(piece("p")).start(1).loseHost("a");
		found(given.event("ended", 1, { from: "running", to: "failed", exit_kind: "lost", attempt: 1 }), "was ended after lost");
	});
	test("a start before a predecessor's end", () => {
		found(new Story(piece("p"), piece("q", { after: ["p"] })).start(2).end(2).start(1).end(1), "before p had succeeded");
	});
	test("an end that no program came to", () => {
		const story = new Story(piece("p")).start(1);
		found(story.event("ended", 1, { from: "running", to: "succeeded", exit_kind: "completed", attempt: 1 }), "never came to its end");
	});
	test("a program that nobody knows of, one on another host, one that begins twice", () => {
		found(new Story(piece("p")).start(1).line("begin", "1.2").end(1), "knows nothing of it");
		found(new Story(piece("p")).start(1).line("begin", "1.1").end(1), "began twice");
	});
	test("what the programs call a violation, unless a suspended machine was part of it", () => {
		const text = "b 5000000000 2.1 (q) found x taken (-x) | 1.1@a\nb 5000000000 3.1 (r) could not count | census\n";
		expect(judgeViolations(text, [])).toHaveLength(2);
		expect(judgeViolations(text, [{ host: "a", what: "suspend", from: 1000, to: 4000, kills: false }])).toEqual([]);
	});
});

describe("the programs themselves", () => {
	const folder = () => {
		const proofs = makeFolder();
		for (const sub of ["slots", "keys"]) mkdirSync(join(proofs, sub));
		writeFileSync(join(proofs, "proof.sh"), PROGRAM);
		return proofs;
	};
	const start = (
		proofs: string,
		run: string,
		given: { host?: string; exclusive?: string; laneMax?: string; seconds?: string },
	): ChildProcess => {
		const { host = "h1", exclusive = "-", laneMax = "-", seconds = "600" } = given;
		const args = [join(proofs, "proof.sh"), proofs, `w${run}`, seconds, "0", "tests", laneMax, exclusive, "-", "-"];
		const env = {
			PATH: process.env.PATH ?? "",
			SLUICE_RUN_ID: run,
			SLUICE_ATTEMPT: "1",
			// By which what it leaves behind is found.
			SLUICE_MARK: proofs,
			SLUICE_HOME: `/${host}`,
			FLEET_ALL: "3",
			FLEET_HOST: "2",
		};
		// A session of its own: all of it is ended together.
		const child = spawn("/bin/sh", args, { env, stdio: "ignore", detached: true });
		onTestFinished(() => {
			end(child);
			for (const { pid } of strays(proofs)) process.kill(pid, "SIGKILL");
		});
		return child;
	};
	const end = (child: ChildProcess) => {
		try {
			process.kill(-(child.pid as number), "SIGKILL");
		} catch {
			// It has gone by itself.
		}
	};
	/** It and all of its group. */
	const gone = (child: ChildProcess) =>
		until(() => {
			try {
				process.kill(-(child.pid as number), 0);
				return false;
			} catch {
				return true;
			}
		});
	const begun = (proofs: string, run: string) =>
		until(() => existsSync(join(proofs, "log")) && readFileSync(join(proofs, "log"), "utf8").includes(`begin ${run} `));
	const violations = (proofs: string) => (existsSync(join(proofs, "violations")) ? readFileSync(join(proofs, "violations"), "utf8") : "");

	test("see a key that is taken, a lane, a host and all that are full, and an attempt that begins twice", async () => {
		const proofs = folder();
		start(proofs, "1.1", { exclusive: "x", laneMax: "1" });
		await begun(proofs, "1.1");
		expect(violations(proofs)).toBe("");
		for (const [run, host] of [
			["2.1", "h1"],
			["3.1", "h2"],
			["4.1", "h1"],
		] as const) {
			start(proofs, run, { host, exclusive: "x", laneMax: "1" });
			await begun(proofs, run);
		}
		const found = violations(proofs);
		for (const word of [
			"2.1 (w2.1) found x taken",
			"found all 1 slots of lane-tests",
			"4.1 (w4.1) found all 2 slots of host-h1",
			"all 3 slots of all",
		])
			expect(found).toContain(word);
		start(proofs, "1.1", { host: "h3", seconds: "0" });
		await until(() => violations(proofs).includes("1.1 (w1.1) began twice"));
	});

	test("let go of everything however they end", async () => {
		const proofs = folder();
		const first = start(proofs, "1.1", { exclusive: "x", laneMax: "1" });
		end(first);
		await gone(first);
		const second = start(proofs, "2.1", { exclusive: "x", laneMax: "1" });
		await begun(proofs, "2.1");
		end(second);
		await gone(second);
		start(proofs, "3.1", { exclusive: "x", laneMax: "1" });
		await begun(proofs, "3.1");
		expect(violations(proofs)).toBe("");
	});
});

test("work is the same for the same seed, and has everything in it", () => {
	const work = drawWork(randomOf(3), 400);
	expect(drawWork(randomOf(3), 400)).toEqual(work);
	expect(work.some((one) => one.exclusive && one.shared)).toBe(true);
	expect(work.filter((one) => one.cancel).length).toBe(3);
	expect(new Set(work.map((one) => one.lane))).toEqual(new Set(["default", "tests", "builds"]));
	expect(work.some((one) => one.after.length > 1)).toBe(true);
	expect(readLines("begin 1.1 h2 77 5000000 w0\n")).toEqual([{ what: "begin", run: "1.1", host: "h2", at: 5 }]);
});
