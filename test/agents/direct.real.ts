// Each agent program as it is, without a daemon: every answer that an API can give becomes the outcome that the adapter promises.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runDirectly } from "./direct.ts";
import type { Handed } from "./fake-api/turn.ts";
import { Place } from "./place.ts";
import { AGENT_NAMES, type AgentName } from "./programs.ts";
import { PRICES } from "./sandbox.ts";
import { FAILURES, RESET_S } from "./scenarios.ts";

/** What all of it costs in millionths of a dollar; null where the program tells no cost. */
export function costOf(agent: AgentName, handed: Handed): number | null {
	const price = PRICES[agent];
	if (!price) return null;
	return (
		handed.input * price.input + handed.output * price.output + handed.cacheRead * price.cacheRead + handed.cacheWrite * price.cacheWrite
	);
}

const allOf = ({ input, cacheRead, cacheWrite, output }: Handed) => input + cacheRead + cacheWrite + output;

describe.each(AGENT_NAMES)("%s", (agent) => {
	test("a turn with a tool call, and a second one in the same session", async () => {
		const place = await Place.open(agent);
		const account = place.account("key-a");
		const work = place.workFolder();
		const usage = { input: 1234, cacheRead: 570, cacheWrite: 0, output: 89, reasoning: 0 };
		place.api.script("key-a", [{ shell: "echo made > made.txt", usage }], { say: "all done" });
		const first = await runDirectly(place, account, work, { prompt: "make the file" });
		expect(first.judged).toMatchObject({ outcome: "ok", message: "all done" });
		expect(existsSync(join(work, "made.txt"))).toBe(true);
		expect(first.judged.used.tokens).toBe(allOf(place.api.handed("key-a")));
		expect(first.judged.used.cost_micro).toBe(costOf(agent, place.api.handed("key-a")));
		const session = first.judged.session!;
		const second = await runDirectly(place, account, work, { prompt: "go on", session, before: first.judged.total });
		expect(second.judged).toMatchObject({ outcome: "ok", session });
		expect(JSON.stringify(place.api.turnsOf("key-a").at(-1)!.asked.body)).toContain("make the file");
		expect(second.judged.total.tokens).toBe(allOf(place.api.handed("key-a")));
		expect(second.judged.total.cost_micro).toBe(costOf(agent, place.api.handed("key-a")));
	});

	test.each(FAILURES)("$name", async (scenario) => {
		const place = await Place.open(agent);
		const now = Date.now();
		place.api.script("key-a", scenario.turns(now), scenario.then(now));
		const account = place.account("key-a", scenario.login);
		const told = await runDirectly(place, account, place.workFolder());
		const outcome = typeof scenario.outcome === "string" ? scenario.outcome : scenario.outcome[agent];
		expect(told.judged.outcome, `${told.stdout}\n${told.stderr}`).toBe(outcome);
		if (outcome === "limited" && agent === "claude") expect(told.judged.until).toBe((Math.floor(now / 1000) + RESET_S) * 1000);
	});
});
