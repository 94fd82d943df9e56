// Runs a program to its end: no shell, no terminal, with a timeout and a limit on the output that is kept.

import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import type { RunProgram } from "../contracts/program.ts";

const KEEP = 10_000_000;
/** How long to wait for output after the program's end: a child that keeps the pipes open must not delay the result. */
const LINGER_MS = 1000;

export const runProgram: RunProgram = (argv, options) =>
	new Promise((resolve) => {
		const [program = "", ...args] = argv;
		const { cwd, env, timeoutMs, input, log, keep = KEEP } = options;
		let trouble: string | null = null;
		const [stdout, stderr] = [tail(keep), tail(keep)];
		let over = false;
		const end = (code: number | null) => {
			if (over) return;
			over = true;
			clearTimeout(timer);
			clearTimeout(linger);
			child.stdout.destroy();
			child.stderr.destroy();
			resolve({ code: trouble === null ? code : null, stdout: stdout.text(), stderr: stderr.text(), trouble });
		};
		// Its own process group, so that all its processes can be ended together, and no terminal to prompt on.
		const child = spawn(program, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
		let linger: NodeJS.Timeout | undefined;
		const timer = setTimeout(() => {
			trouble = `it took longer than ${timeoutMs} ms`;
			endGroup(child.pid);
		}, timeoutMs);
		const hear = (into: ReturnType<typeof tail>) => (chunk: Buffer) => {
			into.add(chunk);
			if (log !== undefined) append(log, chunk);
		};
		child.stdout.on("data", hear(stdout));
		child.stderr.on("data", hear(stderr));
		child.stdin.on("error", () => {});
		child.stdin.end(input ?? "");
		child.on("error", (error) => {
			trouble = `${program} cannot be started: ${error.message}`;
			end(null);
		});
		child.on("exit", (code, signal) => {
			if (signal !== null) trouble ??= `it was ended by ${signal}`;
			linger = setTimeout(() => end(code), LINGER_MS);
		});
		child.on("close", (code) => end(code));
	});

function endGroup(pid: number | undefined): void {
	if (pid === undefined) return;
	try {
		process.kill(-pid, "SIGKILL");
	} catch {
		// The group has ended by itself.
	}
}

function append(path: string, chunk: Buffer): void {
	try {
		appendFileSync(path, chunk, { mode: 0o600 });
	} catch {
		// A log that cannot be written must not change the program's result.
	}
}

/** Keeps the last characters of a stream of bytes. */
function tail(keep: number) {
	const decoder = new StringDecoder("utf8");
	let parts: string[] = [];
	let size = 0;
	const cut = () => {
		const whole = parts.join("");
		parts = [whole.slice(-keep)];
		size = Math.min(whole.length, keep);
	};
	return {
		add(chunk: Buffer) {
			const text = decoder.write(chunk);
			parts.push(text);
			size += text.length;
			if (size > 2 * keep) cut();
		},
		text(): string {
			parts.push(decoder.end());
			cut();
			return parts[0] ?? "";
		},
	};
}
