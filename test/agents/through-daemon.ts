// What has to be seen of an agent program behind a daemon: one suite, run for each of them by <name>.real.ts.

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { windowEnd } from "../../src/core/window.ts";
import { until } from "../make/daemon.ts";
import { costOf, tokensOf, usageFor } from "./charges.ts";
import { AgentDaemon, MARGIN_MS, POOL } from "./daemon.ts";
import { sum } from "./fake-api/turn.ts";
import { cacheFolder } from "./install.ts";
import { Place } from "./place.ts";
import type { AgentName } from "./programs.ts";

/** Long enough for a program to start twice over meanwhile; none waits for it by itself. */
const RESET_S = 45;

/**
 * When a limit ends, as far as the program tells: exactly; that it is the day's quota; or nothing, since it waits by itself and is stopped for that. Then the
 * account is tried again after a back-off.
 */
const RESET: Record<AgentName, "told" | "midnight" | "unknown"> = {
	claude: "told",
	codex: "told",
	gemini: "midnight",
	opencode: "unknown",
};

/** Processes whose command line has this word. */
const processesWith = (word: string): string[] =>
	readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.filter((pid) => {
			try {
				return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word);
			} catch {
				return false;
			}
		});

/** The agent's own: its binary, or Node with its script. */
function isProgram(pid: number, agent: AgentName): boolean {
	try {
		const words = [readlinkSync(`/proc/${pid}/exe`), ...readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, 2)];
		return words.some((word) => word.startsWith(`${cacheFolder()}/bin-`) || word.startsWith(`${cacheFolder()}/${agent}-`));
	} catch {
		return false;
	}
}

export function throughDaemon(agent: AgentName): void {
	const open = async () => {
		const place = await Place.open(agent);
		const daemon = await AgentDaemon.open(place, { a: place.account("key-a", "subscription"), b: place.account("key-b", "subscription") });
		const { api } = place;
		/** What the ledger has to say: exactly what was handed out. */
		const expectCharged = async () => {
			const handed = sum([api.handed("key-a"), api.handed("key-b")]);
			expect(await daemon.used("tokens")).toBe(tokensOf(handed));
			expect(await daemon.used("cost_micro")).toBe(costOf(agent, handed) ?? 0);
		};
		return { place, api, daemon, expectCharged };
	};

	const usage = usageFor(agent);

	describe(`${agent}, behind a daemon`, () => {
		test("a turn with a tool call: outcome, session, usage and cost", async () => {
			const { api, daemon, expectCharged } = await open();
			api.script("key-a", [{ shell: "echo made > made.txt", usage }], { say: "all done" });
			const id = await daemon.add("a", "make the file");
			expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", exit_kind: "completed", attempt: 1 });
			expect(existsSync(daemon.file("made.txt"))).toBe(true);
			const outcome = await daemon.outcome(id, 1);
			expect(outcome).toMatchObject({ outcome: "ok", last_message: "all done" });
			expect(outcome.session).toMatch(/^[\w-]{10,}$/);
			await expectCharged();
			expect(daemon.leftovers()).toEqual([]);
		});

		test("429 with a short retry-after: it goes on, and nothing is held", async () => {
			const { api, daemon, expectCharged } = await open();
			api.script("key-a", [{ fail: "throttled", retryAfterS: 1 }], { say: "done after all", usage });
			const job = await daemon.ended(await daemon.add("a", "be patient"));
			expect(job).toMatchObject({ status: "succeeded", failures: 0 });
			expect((await daemon.account("a")).state).toBe("open");
			await expectCharged();
		});

		test("429 with a long retry-after: the slot is freed, the account held, no retry burned", async () => {
			const { api, daemon } = await open();
			api.script("key-a", [], { fail: "throttled", retryAfterS: 3600 });
			const id = await daemon.add("a", "be patient");
			expect(await daemon.outcome(id, 1)).toMatchObject({ outcome: "throttled", exit_kind: "rate_limited" });
			await until(async () => (await daemon.show(id)).run === null);
			expect(await daemon.show(id)).toMatchObject({ failures: 0 });
			const held = await daemon.account("a");
			expect(held.state).not.toBe("open");
			// The only one that says how long it is to wait.
			if (agent === "gemini") expect(Date.parse(held.until!)).toBeGreaterThan(Date.now() + 3_000_000);
			api.script("key-a", [], { say: "let in again" });
			await daemon.say("account", "clear", "a");
			expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", failures: 0 });
		});

		test("a subscription limit: held until its reset, others go on, resumed by itself in the same session", async () => {
			const { api, daemon, expectCharged } = await open();
			api.script(
				"key-a",
				[
					{ shell: "echo half > half.txt", usage },
					{ fail: "limited", resetsInS: RESET_S },
				],
				{ say: "all done", usage },
			);
			api.script("key-b", [], { say: "elsewhere", usage });
			const limited = await daemon.add("a", "make two halves");
			const first = await daemon.outcome(limited, 1);
			expect(first.exit_kind).toBe("rate_limited");
			expect(first.outcome).toBe("limited");
			const asked = api.turnsOf("key-a").length;
			await until(async () => (await daemon.account("a")).state !== "open");
			const held = await daemon.account("a");
			if (RESET[agent] === "told")
				expect(Date.parse(held.until!) - api.resetOf("key-a")).toSatisfy((late: number) => late >= 0 && late <= 1000);
			if (RESET[agent] === "midnight")
				expect(Date.parse(held.until!)).toBe(windowEnd("day", Date.now(), "America/Los_Angeles") + MARGIN_MS);
			const behind = await daemon.add("a", "wait for it");
			if (RESET[agent] !== "unknown") expect(await daemon.reasons(behind)).toContain("rate_limited");
			const other = await daemon.ended(await daemon.add("b", "meanwhile"));
			expect(other).toMatchObject({ status: "succeeded" });
			if (RESET[agent] === "midnight") {
				api.reset("key-a");
				await daemon.say("account", "clear", "a");
			}
			const done = await daemon.ended(limited);
			expect(done).toMatchObject({ status: "succeeded", failures: 0 });
			expect(await daemon.ended(behind)).toMatchObject({ status: "succeeded", failures: 0 });
			const since = api.turnsOf("key-a").slice(asked);
			if (RESET[agent] !== "unknown") {
				expect(done.attempt).toBe(2);
				// Nothing was started while the account was held.
				expect(since.filter(({ at }) => at < api.resetOf("key-a"))).toEqual([]);
			}
			expect((await daemon.outcome(limited, done.attempt)).session).toBe(first.session);
			expect(since.some(({ asked: { body } }) => JSON.stringify(body).includes("make two halves"))).toBe(true);
			await expectCharged();
			expect(daemon.leftovers()).toEqual([]);
		});

		test.runIf(RESET[agent] === "told")("a limit that lasts too long: another account of the lane takes over, afresh", async () => {
			const { api, daemon, expectCharged } = await open();
			api.script("key-a", [{ shell: "echo half > half.txt", usage }], { fail: "limited", resetsInS: 7200 });
			api.script("key-b", [], { say: "all done", usage });
			const id = await daemon.add(POOL, "make two halves");
			const first = await daemon.outcome(id, 1);
			expect(first).toMatchObject({ outcome: "limited", account: "a" });
			expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", attempt: 2, failures: 0 });
			const second = await daemon.outcome(id, 2);
			expect(second).toMatchObject({ outcome: "ok", account: "b" });
			expect(second.session).not.toBe(first.session);
			// It is given the task again, and told that there was a run before.
			const asked = JSON.stringify(api.turnsOf("key-b")[0]!.asked.body);
			expect(asked).toContain("make two halves");
			expect(asked).toMatch(/This is attempt 2 at this task|broken off/);
			await expectCharged();
		});

		test("529: tried again by policy", async () => {
			const { api, daemon, expectCharged } = await open();
			api.script("key-a", [], { fail: "overloaded" });
			const id = await daemon.add("a", "try again");
			expect(await daemon.outcome(id, 1)).toMatchObject({ outcome: "transient", exit_kind: "crashed" });
			api.script("key-a", [], { say: "at last", usage });
			const job = await daemon.ended(id);
			expect(job.status).toBe("succeeded");
			expect(job.failures).toBeGreaterThan(0);
			await expectCharged();
		});

		test.each(["auth", "billing"] as const)("%s: the account is closed until a person clears it, others go on", async (fail) => {
			const { api, daemon } = await open();
			api.script("key-a", [], { fail });
			const id = await daemon.add("a", "who are you");
			expect(await daemon.outcome(id, 1)).toMatchObject({ outcome: fail, exit_kind: "rate_limited" });
			await until(async () => (await daemon.account("a")).state === "closed");
			expect((await daemon.account("a")).reason).toContain(fail);
			expect(await daemon.reasons(id)).toContain("account_closed");
			expect(await daemon.ended(await daemon.add("b", "meanwhile"))).toMatchObject({ status: "succeeded" });
			api.script("key-a", [], { say: "let in" });
			await daemon.say("account", "clear", "a");
			expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", failures: 0 });
		});

		/** Until a tool of the job runs, with children of its own; their word. */
		const beginToolCall = async ({ api, daemon }: Awaited<ReturnType<typeof open>>) => {
			// A number that nobody else sleeps for.
			const word = `9${process.pid}${Math.floor(Date.now() % 100_000)}`;
			api.script("key-a", [{ shell: `touch began; sleep ${word} & setsid sleep ${word} & sleep ${word}` }]);
			const id = await daemon.add("a", "take long");
			await until(() => existsSync(daemon.file("began")) && processesWith(`sleep\0${word}`).length >= 3);
			return { id, word };
		};

		test("killed during a tool call: its tools go with it, and its session goes on", async () => {
			const stand = await open();
			const { daemon } = stand;
			const { id, word } = await beginToolCall(stand);
			const killed = daemon.leftovers().filter((pid) => isProgram(pid, agent));
			expect(killed.length).toBeGreaterThan(0);
			for (const pid of killed) process.kill(pid, "SIGKILL");
			const first = await daemon.outcome(id, 1);
			expect(first).toMatchObject({ outcome: "killed", exit_kind: "crashed", session: expect.any(String) });
			expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", attempt: 2, failures: 1 });
			expect((await daemon.outcome(id, 2)).session).toBe(first.session);
			await until(() => processesWith(word).length === 0 && daemon.leftovers().length === 0);
		});

		test("stopped during a tool call: no process is left", async () => {
			const stand = await open();
			const { daemon, expectCharged } = stand;
			const { id, word } = await beginToolCall(stand);
			await daemon.say("cancel", String(id));
			expect(await daemon.ended(id)).toMatchObject({ status: "cancelled" });
			// These tell of what they used even then; the others only at the end of a step or of all.
			if (agent === "claude" || agent === "codex") await expectCharged();
			expect(processesWith(word)).toEqual([]);
			expect(daemon.leftovers()).toEqual([]);
		});
	});
}
