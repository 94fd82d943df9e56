// What each real program is given as its prompt: every character of it, at first and in a session that goes on, and no word of it where other users could read it.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { AGENT_NAMES } from "../../src/core/agents/profile.ts";
import { AgentDaemon } from "./daemon.ts";
import { runDirectly } from "./direct.ts";
import { Place } from "./place.ts";

/** What a shell, an option parser or a JSON reader could take for something else. */
const ODD = "--help \"quoted\" 'single' $HOME `date` \\n é漢😀 zebra7\n\n\n-x\n  indented\nthe last line";
/** Counts the processes of the machine that have the prompt's word in their arguments; its own do not. */
const LOOK = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c 'zebra[7]' > seen.txt; true";

/** Whether a request has this very text as one of its strings. */
const holds = (body: unknown, text: string): boolean =>
	body === text || (typeof body === "object" && body !== null && Object.values(body).some((part) => holds(part, text)));

describe.each(AGENT_NAMES)("%s", (agent) => {
	test("gets every character of its prompt, in a first run and in one that goes on", async () => {
		const place = await Place.open(agent);
		const account = place.account("key-a");
		const cwd = place.workFolder();
		place.api.script("key-a", [], { say: "read it" });
		const first = await runDirectly(place, account, cwd, { prompt: ODD });
		expect(first.judged).toMatchObject({ outcome: "ok", session: expect.any(String) });
		const next = `- now this:\n\n${ODD}`;
		const second = await runDirectly(place, account, cwd, { prompt: next, session: first.judged.session! });
		expect(second.judged).toMatchObject({ outcome: "ok", session: first.judged.session });
		const [one, two] = place.api.turnsOf("key-a").map(({ asked: { body } }) => body);
		expect([holds(one, ODD), holds(two, ODD), holds(two, next)]).toEqual([true, true, true]);
		// No call of its own beside those of the task: it would be on no ledger.
		expect(place.api.served.filter(({ asked }) => asked.side)).toEqual([]);
	});

	test("takes 200 kB, and no process of the machine has a word of it among its arguments", async () => {
		const place = await Place.open(agent);
		const daemon = await AgentDaemon.open(place, { a: place.account("key-a") });
		const prompt = `${"All work and no play. ".repeat(9_500)}${ODD}`;
		place.api.script("key-a", [{ shell: LOOK }], { say: "read it" });
		expect(await daemon.ended(await daemon.add("a", prompt))).toMatchObject({ status: "succeeded", attempt: 1 });
		expect(holds(place.api.turnsOf("key-a")[0]!.asked.body, prompt)).toBe(true);
		expect(readFileSync(daemon.file("seen.txt"), "utf8").trim()).toBe("0");
	});
});
