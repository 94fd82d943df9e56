// Limits: too many requests, a plan's quota, a login that is refused, no money left.

import { expect, test } from "vitest";
import type { AgentName } from "../../../src/core/agents/profile.ts";
import { windowEnd } from "../../../src/core/time/window.ts";
import { until } from "../../make/daemons/daemon.ts";
import { usageFor } from "../charges.ts";
import { MARGIN_MS, POOL } from "../daemon.ts";
import { bodiesOf, isNewest, openStand, type Tried, times } from "./stand.ts";

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

export function limits(tried: Tried): void {
	const { agent } = tried;
	const usage = usageFor(agent);

	test("429 with a short retry-after, three times in mid-turn: it goes on in its session, and burns no retry", async () => {
		const { api, daemon, expectCharged } = await openStand(tried);
		api.script("key-a", [{ shell: "echo half > half.txt", usage }, ...times(3, { fail: "throttled", retryAfterS: 1 })], {
			say: "done after all",
			usage,
		});
		const id = await daemon.add("a", "be patient");
		const job = await daemon.ended(id);
		expect(job).toMatchObject({ status: "succeeded", failures: 0 });
		expect((await daemon.outcome(id, job.attempt)).session).toBe((await daemon.outcome(id, 1)).session);
		expect(bodiesOf(api, "key-a").at(-1)).toContain("be patient");
		await until(async () => (await daemon.account("a")).state === "open");
		await expectCharged();
	});

	test("a subscription limit: held until its reset, others go on, resumed by itself in the same session", async () => {
		const { api, daemon, expectCharged } = await openStand(tried);
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
		if (RESET[agent] === "midnight") expect(Date.parse(held.until!)).toBe(windowEnd("day", Date.now(), "America/Los_Angeles") + MARGIN_MS);
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

	if (!isNewest(tried)) return;

	test("429 with a short retry-after: it goes on, and nothing is held", async () => {
		const { api, daemon, expectCharged } = await openStand(tried);
		api.script("key-a", [{ fail: "throttled", retryAfterS: 1 }], { say: "done after all", usage });
		const job = await daemon.ended(await daemon.add("a", "be patient"));
		expect(job).toMatchObject({ status: "succeeded", failures: 0 });
		expect((await daemon.account("a")).state).toBe("open");
		await expectCharged();
	});

	test("429 with a long retry-after: the slot is freed, the account held, no retry burned", async () => {
		const { api, daemon } = await openStand(tried);
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

	// Where no reset is known, the account is tried again soon: the job stays with it.
	if (RESET[agent] !== "unknown")
		test("a limit that lasts too long: another account of the lane takes over, afresh", async () => {
			const { api, daemon, expectCharged } = await openStand(tried);
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

	test.each(["auth", "billing"] as const)("%s: the account is closed until a person clears it, others go on", async (fail) => {
		const { api, daemon } = await openStand(tried);
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
}
