// Child processes of a test: built programs of test/race, talked to by messages, gone when the test ends.

import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const BUILT = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "dist", "test", "race");

export class Child {
	readonly process: ChildProcess;
	private readonly unread: unknown[] = [];
	private waiting: ((message: unknown) => void) | undefined;
	/** Resolves with how it ended. */
	readonly ended: Promise<{ code: number | null; signal: string | null; stderr: string }>;

	/** Starts `test/race/<name>.ts`, as it was built, with one argument. */
	constructor(name: string, argument: unknown) {
		const program = join(BUILT, `${name}.js`);
		if (!existsSync(program)) throw new Error(`${program} is not there: npm test builds it first, npm run build does too`);
		this.process = fork(program, [JSON.stringify(argument)], { stdio: ["ignore", "pipe", "pipe", "ipc"], execArgv: [] });
		let stderr = "";
		this.process.stderr?.on("data", (chunk) => {
			stderr += chunk;
		});
		this.process.on("message", (message) => {
			const next = this.waiting;
			this.waiting = undefined;
			if (next) next(message);
			else this.unread.push(message);
		});
		this.ended = new Promise((resolve) => {
			this.process.on("close", (code, signal) => resolve({ code, signal, stderr }));
		});
		onTestFinished(async () => {
			this.process.kill("SIGKILL");
			await this.ended;
		});
	}

	send(message: string): void {
		this.process.send(message);
	}

	/** The next message; fails when the child ends without one. */
	async next<T>(): Promise<T> {
		if (this.unread.length > 0) return this.unread.shift() as T;
		const message = new Promise<unknown>((resolve) => {
			this.waiting = resolve;
		});
		const end = this.ended.then(({ code, signal, stderr }) => {
			throw new Error(`the child ended (${signal ?? code}) before it answered\n${stderr}`);
		});
		return (await Promise.race([message, end])) as T;
	}
}
