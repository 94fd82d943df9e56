// A second user of this machine, who acts against the first: programs with another uid, and a listener that records what callers send.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { onTestFinished } from "vitest";
import { until } from "./daemon.ts";

export const SECOND_USER = 54_321;
/** Only root can start programs as another user. */
export const CAN_ACT_AS_ANOTHER = process.getuid?.() === 0;
const AS = { uid: SECOND_USER, gid: SECOND_USER, cwd: "/" };

/** Runs a shell script as the second user; its exit code. */
export const asSecondUser = (script: string): number | null => spawnSync("/bin/sh", ["-c", script], AS).status;

export type OtherProgram = { child: ChildProcess; lines: string[]; end(): Promise<void> };

/** Runs a script of Node as the second user (without root: as this user); resolves with its first line. `lines` collects what it prints. */
export async function startOther(script: string, ...args: string[]): Promise<OtherProgram> {
	const as = CAN_ACT_AS_ANOTHER ? AS : { cwd: "/" };
	const child = spawn(process.execPath, ["-e", script, ...args], { ...as, env: {}, stdio: ["ignore", "pipe", "inherit"] });
	const closed = new Promise<void>((resolve) => void child.once("close", () => resolve()));
	const end = async () => {
		child.kill("SIGKILL");
		await closed;
	};
	onTestFinished(end);
	const lines: string[] = [];
	let rest = "";
	await new Promise<void>((resolve, reject) => {
		child.once("error", reject);
		void closed.then(() => reject(new Error("the other program ended")));
		child.stdout.on("data", (chunk) => {
			const [last = "", ...whole] = `${rest}${chunk}`.split("\n").reverse();
			rest = last;
			lines.push(...whole.reverse());
			if (lines.length > 0) resolve();
		});
	});
	return { child, lines, end };
}

/** Listens on a socket as the second user, with mode 0777. `heard`: what was sent there, and `connection` for each caller. */
export async function listenAsSecondUser(path: string): Promise<{ heard(): string }> {
	const program = `
		const out = (text) => process.stdout.write(text);
		process.umask(0);
		require("node:net").createServer((socket) => {
			out("connection\\n");
			socket.on("data", (chunk) => socket.destroy(out(chunk + "\\n"))).on("error", () => {});
		}).listen(${JSON.stringify(path)}, () => out("listening\\n"));`;
	const { lines } = await startOther(program);
	await until(() => lines[0] === "listening");
	return {
		heard: () =>
			lines
				.slice(1)
				.map((line) => `${line}\n`)
				.join(""),
	};
}
