// Each agent program as it is, without a daemon: every answer that an API can give becomes the outcome that the adapter promises.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { costOf, tokensOf, usageFor } from "./charges.ts";
import { runDirectly } from "./direct.ts";
import { Place } from "./place.ts";
import { newestOf, TRIED } from "./programs.ts";
import { FAILURES } from "./scenarios.ts";

describe.each(TRIED.map((one) => [one.title, one] as const))("%s", (_title, { agent, version }) => {
	test("a turn with a tool call, and a second one in the same session", async () => {
		const place = await Place.open(agent, version);
		const account = place.account("key-a");
		const work = place.workFolder();
		place.api.script("key-a", [{ shell: "echo made > made.txt", usage: usageFor(agent) }], { say: "all done" });
		const first = await runDirectly(place, account, work, { prompt: "make the file", record: "tool" });
		expect(first.judged, `${first.stdout}\n${first.stderr}`).toMatchObject({
			outcome: "ok",
			message: "all done",
			not_understood: 0,
		});
		expect(existsSync(join(work, "made.txt"))).toBe(true);
		expect(first.judged.used.tokens).toBe(tokensOf(place.api.handed("key-a")));
		expect(first.judged.used.cost_micro).toBe(costOf(agent, place.api.handed("key-a")));
		const session = first.judged.session!;
		const second = await runDirectly(place, account, work, { prompt: "go on", session, before: first.judged.total!, record: "resume" });
		expect(second.judged).toMatchObject({ outcome: "ok", session });
		expect(JSON.stringify(place.api.turnsOf("key-a").at(-1)!.asked.body)).toContain("make the file");
		expect(second.judged.total!.tokens).toBe(tokensOf(place.api.handed("key-a")));
		expect(second.judged.total!.cost_micro).toBe(costOf(agent, place.api.handed("key-a")));
	});

	test.each(FAILURES)("$name", async (scenario) => {
		const place = await Place.open(agent, version);
		place.api.script("key-a", scenario.turns, scenario.last);
		const account = place.account("key-a", scenario.login);
		const told = await runDirectly(place, account, place.workFolder(), { record: scenario.name });
		const usual = typeof scenario.outcome === "string" ? scenario.outcome : scenario.outcome[agent];
		const outcome = (version !== newestOf(agent) ? scenario.older?.[agent] : undefined) ?? usual;
		expect([told.judged.outcome, told.judged.not_understood], `${told.stdout}\n${told.stderr}`).toEqual([outcome, 0]);
		if (outcome === "limited" && agent === "claude") expect(told.judged.until).toBe(place.api.resetOf("key-a"));
	});
});
