// An agent's lines become messages and tool calls with results and times.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Activity } from "./activity.ts";

const line = (event: object, second: number) => JSON.stringify({ ...event, timestamp: `2026-01-02T10:41:0${second}.000Z` });
const call = (id: string, command: string) => ({
	type: "assistant",
	message: { content: [{ type: "tool_use", id, name: "Bash", input: { command } }] },
});
const result = (id: string, content: string, is_error = false) => ({
	type: "user",
	message: { content: [{ type: "tool_result", tool_use_id: id, content, is_error }] },
});

test("messages, tools that run, end well or badly, and what stderr says", () => {
	const activity = new Activity("claude");
	activity.line(line({ type: "assistant", message: { content: [{ type: "text", text: "I look." }] } }, 1), "stdout");
	activity.line(line(call("a", "ls"), 2), "stdout");
	expect(activity.items.at(-1)).toMatchObject({ is: "tool", name: "Bash", text: "ls", how: "runs", endedAt: null });
	activity.line(line(result("a", "x\u001b[31m.ts"), 4), "stdout");
	activity.line("\u001b[31mwarning: old\u001b[0m", "stderr");
	activity.line(line(call("b", "npm test"), 5), "stdout");
	activity.line(line(result("b", "1 failed", true), 6), "stdout");
	expect(activity.items.map((item) => (item.is === "tool" ? [item.text, item.how, item.result] : [item.is, item.text]))).toEqual([
		["said", "I look."],
		["ls", "ok", "x.ts"],
		["note", "warning: old"],
		["npm test", "failed", "1 failed"],
	]);
	const tool = activity.items[1];
	expect(tool?.is === "tool" && tool.endedAt !== null && tool.at !== null && tool.endedAt - tool.at).toBe(2000);
	for (let n = 0; n < 1000; n++) activity.line(line(call(`c${n}`, `echo ${n}`), 7), "stdout");
	expect([activity.items.length, activity.items.at(-1)]).toMatchObject([400, { text: "echo 999" }]);
});

test("every recorded output of an agent can be read", () => {
	const root = new URL("../../../test/fixtures/agents/", import.meta.url);
	for (const name of readdirSync(root)) {
		const format = (["claude", "codex", "gemini", "opencode"] as const).find((one) => name.startsWith(one));
		if (!format || !readdirSync(new URL(`${name}/`, root)).includes("stdout")) continue;
		const activity = new Activity(format);
		for (const text of readFileSync(new URL(`${name}/stdout`, root), "utf8").split("\n")) activity.line(text, "stdout");
		expect(new Set(activity.items.map(({ id }) => id)).size).toBe(activity.items.length);
		expect(activity.items.length).toBeLessThan(200);
		if (name.endsWith("-tool")) expect(activity.items.some((item) => item.is === "tool" && item.how === "ok")).toBe(true);
	}
});
