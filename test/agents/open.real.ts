// `sluice open` of a job that was merged: its worktree is gone, and the line that it prints makes it again, so that each real program finds its session there.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { AGENT_NAMES } from "../../src/core/agents/profile.ts";
import { until } from "../make/daemons/daemon.ts";
import { AgentDaemon } from "./daemon.ts";
import { runDirectly } from "./direct.ts";
import { Place } from "./place.ts";

type Opened = { path: string; there: boolean; restore: string[]; session: string; resume: { argv: string[]; env: Record<string, string> } };

describe.each(AGENT_NAMES)("%s", (agent) => {
	test("goes on with the session of a merged job, in the worktree that was made again", async () => {
		const place = await Place.open(agent);
		const account = place.account("key-a");
		const daemon = await AgentDaemon.open(place, { a: account });
		const git = (...words: string[]) =>
			execFileSync("git", ["-C", daemon.file("."), "-c", "user.name=A", "-c", "user.email=a@x", ...words]);
		git("commit", "--quiet", "--allow-empty", "-m", "begin");
		await daemon.say("repo", "add", daemon.file("."), "--name", "r");
		place.api.script("key-a", [{ shell: "echo made > made.txt" }], { say: "all done" });
		const id = await daemon.add("a", "make the file", { repo: "r" });
		await until(async () => (await daemon.show(id)).merge_status === "merged");
		const opened = await until(async () => {
			const found = JSON.parse(await daemon.say("open", String(id), "--json")) as Opened;
			return found.restore === null ? undefined : found;
		});
		expect(opened).toMatchObject({ there: false, resume: { argv: expect.arrayContaining([expect.stringContaining(opened.session)]) } });
		expect(existsSync(opened.path)).toBe(false);
		execFileSync(opened.restore[0]!, opened.restore.slice(1));
		// The headless form of what `open` prints: the same folder, the same session.
		const { judged } = await runDirectly(place, account, opened.path, { prompt: "what did you make?", session: opened.session });
		expect(judged).toMatchObject({ outcome: "ok", session: opened.session });
		expect(JSON.stringify(place.api.turnsOf("key-a").at(-1)!.asked.body)).toMatch(/make the file[\s\S]*what did you make\?/);
		expect(existsSync(`${opened.path}/made.txt`)).toBe(true);
	});
});
