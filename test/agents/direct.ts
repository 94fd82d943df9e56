// One run of a real agent program without a daemon: started as its profile says, read and judged as the supervisor would.

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { onTestFinished } from "vitest";
import { profileOf } from "../../src/core/agents/index.ts";
import { type Judgement, judge } from "../../src/core/agents/judge.ts";
import { commandLine } from "../../src/core/agents/profile.ts";
import { NOTHING, type Trouble, type Used } from "../../src/core/agents/stream/happening.ts";
import { createReader } from "../../src/core/agents/stream/reading.ts";
import { triesInVain, waitsFor } from "../../src/core/agents/waiting.ts";
import type { Place } from "./place.ts";
import { record } from "./record.ts";
import { MODELS, PERMISSIONS, type Sandbox } from "./sandbox.ts";

export type Told = { argv: string[]; code: number | null; signal: string | null; stdout: string; stderr: string; judged: Judgement };

export type Wish = {
	prompt?: string;
	session?: string;
	before?: Used;
	/** What it is called when it is recorded. */
	record?: string;
};

/** Beyond what a short retry-after asks for. */
const PATIENCE_MS = 8_000;

export async function runDirectly(place: Place, account: Sandbox, cwd: string, wish: Wish = {}): Promise<Told> {
	const profile = profileOf(place.agent, {})!;
	const prompt = wish.prompt ?? "do it";
	const { argv, stdin } = commandLine(profile, {
		prompt,
		model: MODELS[place.agent],
		permission: PERMISSIONS[place.agent],
		session: wish.session,
	});
	const env = {
		PATH: place.path,
		...profile.env,
		...account.env,
		[profile.home_variable!]: account.home,
	};
	// A group of its own, as a run has: Gemini CLI starts itself once more, and only the second process acts on a signal.
	const child = spawn(argv[0]!, argv.slice(1), { cwd, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
	// One that ends before it has read all is judged by what it said.
	child.stdin.on("error", () => {});
	child.stdin.end(stdin === "prompt" ? prompt : "");
	const signal = (name: NodeJS.Signals) => {
		try {
			process.kill(-child.pid!, name);
		} catch {
			// It has ended.
		}
	};
	onTestFinished(() => signal("SIGKILL"));
	const reader = createReader(profile.output);
	let [stdout, stderr, lastOnStderr] = ["", "", ""];
	let waited: Trouble | null = null;
	let timer: NodeJS.Timeout | undefined;
	/** Silent for a while: is it a limit that it waits for? */
	const listen = () => {
		clearTimeout(timer);
		timer = setTimeout(() => {
			waited = waitsFor(profile.output, reader.reading, lastOnStderr);
			if (waited) signal(profile.stop_signal);
		}, PATIENCE_MS);
	};
	child.stdout.on("data", (chunk: Buffer) => {
		reader.push(chunk);
		stdout += chunk;
		lastOnStderr = "";
		listen();
	});
	child.stderr.on("data", (chunk) => {
		stderr += chunk;
		lastOnStderr += chunk;
		listen();
		if (waited) return;
		waited = triesInVain(profile.output, reader.reading, lastOnStderr, 0);
		if (waited) signal(profile.stop_signal);
	});
	const [code, endedBy] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (...how) => resolve(how));
	});
	clearTimeout(timer);
	const about = { stderr, now: Date.now(), timezone: "UTC", before: wish.before ?? NOTHING, waited };
	const told = {
		argv,
		code,
		signal: endedBy,
		stdout,
		stderr,
		judged: judge(profile.output, reader.end(), { code: code ?? 128 + constants.signals[endedBy!], signal: endedBy }, about),
	};
	if (process.env.SLUICE_AGENT_RECORD) record(process.env.SLUICE_AGENT_RECORD, place, wish.record ?? "run", told);
	return told;
}
