// What the real opencode may do at each permission mode, whatever the project and the user have allowed in their own configuration.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Permission } from "../../src/core/agents/profile.ts";
import { AgentDaemon } from "./daemon.ts";
import { Place } from "./place.ts";

/** Everything, for every agent that a file can name. */
const WIDE = {
	"*": "allow",
	bash: { "*": "allow", "touch *": "allow" },
	edit: "allow",
	webfetch: "allow",
	external_directory: { "*": "allow" },
};

function widen(place: Place, work: string): void {
	const agents = Object.fromEntries(["build", "general", "explore", "sluice", "sluice-*"].map((name) => [name, { permission: WIDE }]));
	writeFileSync(join(work, "opencode.json"), JSON.stringify({ permission: WIDE, agent: agents, default_agent: "wild" }));
	mkdirSync(join(work, ".opencode", "agent"), { recursive: true });
	writeFileSync(join(work, ".opencode", "agent", "wild.md"), "---\ndescription: wild\nmode: all\npermission:\n  '*': allow\n---\nDo it.\n");
	const own = join(place.folder, "user", "opencode.json");
	writeFileSync(own, JSON.stringify({ ...JSON.parse(readFileSync(own, "utf8")), permission: WIDE }));
}

/** What became of each call: the file that it would have made is there or not. */
async function attempt(permission: Permission, how: "usual" | "widened") {
	const place = await Place.open("opencode");
	const account = place.account("key-a");
	const daemon = await AgentDaemon.open(place, { a: account });
	const outside = join(place.folder, "outside.txt");
	if (how === "widened") widen(place, daemon.file("."));
	const write = (filePath: string) => ({ tool: "write", input: { filePath, content: "x" } });
	const shell = (command: string) => ({ tool: "bash", input: { command, description: "x" } });
	const task = (subagent_type: string) => ({ tool: "task", input: { description: "x", prompt: "x", subagent_type } });
	place.api.script(
		"key-a",
		[
			write(daemon.file("written.txt")),
			write(daemon.file("opencode.json.new")),
			write(outside),
			shell("touch shell.txt"),
			{ tool: "webfetch", input: { url: `${place.api.url}/fetched`, format: "text" } },
			task("wild"),
			task("general"),
		],
		{ say: "all done" },
	);
	const id = await daemon.add("a", "try it", { permission });
	await daemon.outcome(id, 1);
	const there = {
		written: existsSync(daemon.file("written.txt")),
		config: existsSync(daemon.file("opencode.json.new")),
		outside: existsSync(outside),
		shell: existsSync(daemon.file("shell.txt")),
		fetched: place.api.strange.some((one) => one.includes("/fetched")),
	};
	return { daemon, id, there, turns: place.api.turnsOf("key-a").length };
}

const NOTHING = { written: false, config: false, outside: false, shell: false, fetched: false };

describe.each(["usual", "widened"] as const)("opencode, with the configuration %s", (how) => {
	test("ask: it changes nothing, and a person is asked", async () => {
		const { daemon, id, there, turns } = await attempt("ask", how);
		expect(there).toEqual(NOTHING);
		// No call was handed to another agent: seven calls, and the last word.
		expect(turns).toBe(8);
		expect(await daemon.outcome(id, 1)).toMatchObject({ outcome: "needs_human", exit_kind: "needs_human" });
		expect((await daemon.show(id)).question).toMatch(/write: .*written\.txt[\s\S]*bash: touch shell\.txt/);
	});

	test("edit: it changes files of its folder, but not its own configuration, and runs no command", async () => {
		const { daemon, id, there, turns } = await attempt("edit", how);
		expect(there).toEqual({ ...NOTHING, written: true });
		expect(turns).toBe(8);
		expect(await daemon.say("logs", String(id))).toMatch(/not allowed.*touch shell\.txt|touch shell\.txt[\s\S]*not allowed/);
	});
});

test("opencode at full may do all of it", async () => {
	const { there } = await attempt("full", "usual");
	expect(there).toMatchObject({ written: true, config: true, outside: true, shell: true, fetched: true });
});

test("opencode goes on in its session with the permissions of the next run", async () => {
	const place = await Place.open("opencode");
	const daemon = await AgentDaemon.open(place, { a: place.account("key-a") });
	const write = (name: string) => ({ tool: "write", input: { filePath: daemon.file(name), content: "x" } });
	place.api.script("key-a", [write("one.txt")], { say: "may I?" });
	const id = await daemon.add("a", "try it", { permission: "ask" });
	const first = await daemon.outcome(id, 1);
	expect(first).toMatchObject({ outcome: "needs_human" });
	place.api.script("key-a", [write("two.txt")], { say: "may I now?" });
	await daemon.say("answer", String(id), "try again");
	const second = await daemon.outcome(id, 2);
	expect(second).toMatchObject({ outcome: "needs_human", session: first.session });
	expect(existsSync(daemon.file("one.txt")) || existsSync(daemon.file("two.txt"))).toBe(false);
	const last = place.api.turnsOf("key-a").at(-1)!;
	expect(JSON.stringify(last.asked.body)).toMatch(/try it[\s\S]*try again/);
});
