// Claude Code and Codex, the real programs behind a real daemon: what they used before they were killed, hung or overflowed is charged; a provider that is
// down holds the account; silence is tried again as told.

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AgentName } from "../../src/core/agents/profile.ts";
import { until } from "../make/daemons/daemon.ts";
import { tokensOf, usageFor } from "./charges.ts";
import { AgentDaemon } from "./daemon.ts";
import { sum } from "./fake-api/turn.ts";
import { cacheFolder } from "./install.ts";
import { Place } from "./place.ts";

/** The agent's own process, not one of its tools. */
function isProgram(pid: number, agent: AgentName): boolean {
	try {
		const words = [readlinkSync(`/proc/${pid}/exe`), ...readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, 2)];
		return words.some((word) => word.startsWith(`${cacheFolder()}/bin-`) || word.startsWith(`${cacheFolder()}/${agent}-`));
	} catch {
		return false;
	}
}

async function open(agent: AgentName) {
	const place = await Place.open(agent);
	const account = place.account("key-a");
	const daemon = await AgentDaemon.open(place, { a: account, b: place.account("key-b") });
	return { api: place.api, daemon, home: account.home };
}

/** How often the program's own records of its sessions say this. They are written a moment after what is printed. */
const recorded = (home: string, words: string): number =>
	readdirSync(home, { recursive: true, encoding: "utf8" })
		.filter((name) => name.endsWith(".jsonl"))
		.reduce((count, name) => count + readFileSync(join(home, name), "utf8").split(words).length - 1, 0);

/** What Codex wrote nowhere before it was killed: up to 0.142 the answer whose tools were running. */
async function isWrittenAtOnce(agent: AgentName, daemon: AgentDaemon): Promise<boolean> {
	if (agent !== "codex") return true;
	const version = /codex\s+\S*\s*([\d.]+)/.exec(await daemon.say("agent", "list"))?.[1] ?? "";
	const [major = 0, minor = 0] = version.split(".").map(Number);
	return major > 0 || minor > 142;
}

describe.each(["claude", "codex"] as const)("%s, broken off", (agent) => {
	const usage = usageFor(agent);

	test("killed in the middle of its second tool: both answers are charged, and the run that goes on charges its own", async () => {
		const { api, daemon, home } = await open(agent);
		api.script("key-a", [
			{ shell: "echo one", usage },
			{ shell: "touch began; tail -f /dev/null", usage },
			{ say: "all done", usage },
		]);
		const id = await daemon.add("a", "take long");
		await until(() => existsSync(daemon.file("began")));
		const all = await isWrittenAtOnce(agent, daemon);
		const words = agent === "claude" ? '"stop_reason":"tool_use"' : all ? '"type":"token_usage_record"' : '"type":"function_call"';
		await until(() => recorded(home, words) >= 2);
		for (const pid of daemon.leftovers().filter((one) => isProgram(one, agent))) process.kill(pid, "SIGKILL");
		const first = await daemon.outcome(id, 1);
		expect(first).toMatchObject({ outcome: "killed" });
		const once = tokensOf(usage);
		expect(first.usage).toMatchObject({ tokens: all ? 2 * once : once, cost_micro: null });
		expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", attempt: 2 });
		expect(await daemon.used("tokens")).toBe(tokensOf(api.handed("key-a")) - (all ? 0 : once));
	});

	test("hung: stopped for its silence, tried again as told, and what it had used is charged", async () => {
		const { api, daemon } = await open(agent);
		api.script("key-a", [{ shell: "echo one", usage }, { hang: "silent" }], { say: "all done", usage });
		const id = await daemon.add("a", "hang", { flags: ["--stall-timeout", "10s", "--retries", "1"] });
		expect(await daemon.outcome(id, 1)).toMatchObject({ exit_kind: "stalled", usage: { tokens: tokensOf(usage) } });
		expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", attempt: 2, failures: 1 });
		expect(await daemon.say("show", String(id))).toMatch(/retries +1 of 1 used/);
		expect(await daemon.used("tokens")).toBe(tokensOf(api.handed("key-a")));
	});

	test("its context overflows: what it had used is charged", async () => {
		const { api, daemon } = await open(agent);
		api.script("key-a", [{ shell: "echo one", usage }], { fail: "context" });
		const id = await daemon.add("a", "too much");
		expect(await daemon.ended(id)).toMatchObject({ status: "failed" });
		expect(await daemon.used("tokens")).toBe(tokensOf(sum([api.handed("key-a")])));
	});

	test("its provider is down: the account is held, one run tries it, nothing is burned, the others go on", async () => {
		const { api, daemon } = await open(agent);
		api.script("key-a", [{ shell: "echo half > half.txt", usage }], { fail: "overloaded" });
		const id = await daemon.add("a", "make two halves");
		expect(await daemon.outcome(id, 1)).toMatchObject({ outcome: "transient", exit_kind: "crashed", outage: true });
		await until(async () => (await daemon.account("a")).state === "outage");
		const behind = await daemon.add("a", "wait for it");
		expect(await daemon.reasons(behind)).toContain("outage");
		expect(await daemon.ended(await daemon.add("b", "meanwhile"))).toMatchObject({ status: "succeeded" });
		// The second outage is the same one.
		await until(async () => (await daemon.show(id)).attempt + (await daemon.show(behind)).attempt >= 2);
		api.script("key-a", [], { say: "at last", usage });
		for (const job of [id, behind]) expect(await daemon.ended(job)).toMatchObject({ status: "succeeded", failures: 0 });
		expect((await daemon.account("a")).state).toBe("open");
		expect(await daemon.used("tokens")).toBe(tokensOf(sum([api.handed("key-a"), api.handed("key-b")])));
	});
});

// The others tell when a tool begins.
describe("opencode, with a tool that is silent for longer than its bound", () => {
	test("is left alone", async () => {
		const { api, daemon } = await open("opencode");
		api.script("key-a", [{ shell: "tail -f /dev/null & sleep 90; kill $!; echo made > made.txt" }], { say: "all done" });
		const id = await daemon.add("a", "take your time", { flags: ["--stall-timeout", "60s", "--retries", "0"] });
		expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", attempt: 1, end_reason: null });
		expect(existsSync(daemon.file("made.txt"))).toBe(true);
	});
});
