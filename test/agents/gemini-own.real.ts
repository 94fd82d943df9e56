// What is Gemini CLI's own, with the real program behind a real daemon: which .env file it reads, its retries, its connections, its record of a session.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { tokensOf } from "./charges.ts";
import { AgentDaemon } from "./daemon.ts";
import { Place } from "./place.ts";

describe("gemini", () => {
	const open = async () => {
		const place = await Place.open("gemini");
		const daemon = await AgentDaemon.open(place, { a: place.account("key-a"), b: place.account("key-b") });
		return { place, api: place.api, daemon };
	};

	test("the .env file of an account's home counts, not the one that is nearer to the work folder", async () => {
		const { place, api, daemon } = await open();
		mkdirSync(join(place.folder, ".gemini"));
		writeFileSync(join(place.folder, ".gemini", ".env"), `GEMINI_API_KEY=key-x\nGOOGLE_API_KEY=key-y\nGOOGLE_GEMINI_BASE_URL=${api.url}\n`);
		writeFileSync(join(place.folder, ".env"), "GEMINI_API_KEY=key-z\n");
		for (const account of ["a", "b"]) {
			const job = await daemon.ended(await daemon.add(account, "who am I"));
			expect(job).toMatchObject({ status: "succeeded" });
		}
		expect(["key-a", "key-b", "key-x", "key-y", "key-z"].map((key) => api.turnsOf(key).length > 0)).toEqual([
			true,
			true,
			false,
			false,
			false,
		]);
	});

	test("a connection that is cut in mid-answer: transient, and it goes on in the same session", async () => {
		const { api, daemon } = await open();
		api.script("key-a", [{ shell: "echo half > half.txt" }, { drop: "midway" }], { say: "all done" });
		const id = await daemon.add("a", "make two halves");
		const first = await daemon.outcome(id, 1);
		expect(first).toMatchObject({ outcome: "transient", exit_kind: "crashed" });
		const done = await daemon.ended(id);
		expect(done.status).toBe("succeeded");
		expect((await daemon.outcome(id, done.attempt)).session).toBe(first.session);
		expect(JSON.stringify(api.turnsOf("key-a").at(-1)!.asked.body)).toContain("make two halves");
		expect(await daemon.used("tokens")).toBe(tokensOf(api.handed("key-a")));
	});

	test.each([
		["throttled", { fail: "throttled", retryAfterS: 2 }, "rate_limited"],
		["transient", { fail: "overloaded" }, "crashed"],
	] as const)(
		"%s in mid-turn: stopped after two attempts, charged, and gone on with in the same session",
		async (outcome, failure, exit_kind) => {
			const { api, daemon } = await open();
			api.script("key-a", [{ shell: "echo half > half.txt" }], failure);
			const id = await daemon.add("a", "make two halves");
			const first = await daemon.outcome(id, 1);
			expect(first).toMatchObject({ outcome, exit_kind });
			const failed = api.turnsOf("key-a").filter(({ turn }) => "fail" in turn);
			// A third may be on its way before the supervisor looks.
			expect(failed.length).toBeLessThanOrEqual(3);
			expect(first.usage.tokens).toBe(tokensOf(api.handed("key-a")));
			api.script("key-a", [], { say: "all done" });
			await daemon.say("account", "clear", "a");
			const done = await daemon.ended(id);
			expect(done.status).toBe("succeeded");
			expect((await daemon.outcome(id, done.attempt)).session).toBe(first.session);
			expect(JSON.stringify(api.turnsOf("key-a").at(-1)!.asked.body)).toContain("make two halves");
			expect(await daemon.used("tokens")).toBe(tokensOf(api.handed("key-a")));
		},
	);

	test("cancelled in a tool call: what was used until then is charged", async () => {
		const { api, daemon } = await open();
		api.script("key-a", [{ shell: "echo one > one.txt" }, { shell: "touch began; sleep 987654" }]);
		const id = await daemon.add("a", "take long");
		await until(() => existsSync(daemon.file("began")));
		await daemon.say("cancel", String(id));
		expect(await daemon.ended(id)).toMatchObject({ status: "cancelled" });
		expect(await daemon.used("tokens")).toBe(tokensOf(api.handed("key-a")));
		expect(daemon.leftovers()).toEqual([]);
	});
});
