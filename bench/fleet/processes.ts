// Programs of bench/children/ that answer questions for as long as they run: a leader, many simulated hosts, workers. Each ends with the bench.

import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

type Question = { id: number; name: string; args: unknown };
type Answer = { id: number; value?: unknown; error?: string };
export type Handlers = Record<string, (args: never) => unknown>;

export type Child = {
	pid: number;
	ask<T>(name: string, args?: unknown): Promise<T>;
	signal(signal: NodeJS.Signals): void;
	/** Closes its standard channel, at which it ends by itself; one that does not is killed. */
	end(): Promise<void>;
};

const END_MS = 20_000;

export function startChild(program: string, flags: readonly string[] = []): Child {
	const script = fileURLToPath(new URL(`../children/${program}.js`, import.meta.url));
	const child = fork(script, [], { execArgv: [...flags], stdio: ["ignore", "ignore", "inherit", "ipc"] });
	const open = new Map<number, (answer: Answer) => void>();
	let asked = 0;
	child.on("message", (answer: Answer) => {
		open.get(answer.id)?.(answer);
		open.delete(answer.id);
	});
	const ended = once(child, "exit").then(() => {
		for (const [id, settle] of open) settle({ id, error: "the process has ended" });
	});
	const kill = () => child.kill("SIGKILL");
	process.once("exit", kill);
	return {
		pid: child.pid as number,
		ask: <T>(name: string, args?: unknown) =>
			new Promise<T>((resolve, reject) => {
				const id = ++asked;
				open.set(id, ({ value, error }) =>
					error === undefined ? resolve(value as T) : reject(new Error(`${program}, ${name}: ${error}`)),
				);
				const question: Question = { id, name, args };
				child.send(question);
			}),
		signal: (signal) => void child.kill(signal),
		async end() {
			if (child.connected) child.disconnect();
			const timer = setTimeout(kill, END_MS);
			await ended;
			clearTimeout(timer);
			process.off("exit", kill);
		},
	};
}

/** The child's side. `end` is called when the bench has no more questions. */
export function answerQuestions(handlers: Handlers, end: () => Promise<unknown>): void {
	process.on("message", async ({ id, name, args }: Question) => {
		let answer: Answer;
		try {
			answer = { id, value: await handlers[name]?.(args as never) };
		} catch (error) {
			answer = { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
		}
		if (process.connected) process.send?.(answer);
	});
	process.once("disconnect", () => void end().finally(() => process.exit(0)));
}

/** Milliseconds of processor that this process has used so far. */
export function cpuUsed(): { cpuMs: number } {
	const { user, system } = process.cpuUsage();
	return { cpuMs: (user + system) / 1000 };
}
