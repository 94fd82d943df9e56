// A real daemon process on a home of the test's own; ended by its pid when the test is over, with everything that its runs started.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Client, connect } from "../../../src/api/client.ts";
import { socketOf } from "../../../src/api/socket-path.ts";
import { makeFolder } from "../folder.ts";
import { until } from "../until.ts";
import { makeProgram } from "./program.ts";

export { until };

let program: string | undefined;
let command: string | undefined;

function end(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// It has gone by itself.
	}
}

/** What daemons are told besides: where their store is, say. Asked for each home, at each start of its daemon. */
let surroundings: (home: string) => Promise<Record<string, string>> = async () => ({});
export const placeHomes = (next: typeof surroundings): void => {
	surroundings = next;
};

export type Said = { code: number; out: string; err: string };

export class TestHome {
	readonly path: string;
	readonly daemons: ChildProcess[] = [];
	/** Remembered, since the home may be gone when its processes are looked for. */
	private tag = "";

	constructor(path = join(makeFolder(), "home")) {
		this.path = path;
		onTestFinished(async () => {
			for (const child of this.daemons) await this.kill(child);
			this.endOther();
			for (const pid of this.leftovers()) end(pid);
		});
	}

	/** A daemon that a command has started by itself is nobody's child. */
	private endOther(): void {
		const owner = (pid: string) => {
			try {
				return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
			} catch {
				return [];
			}
		};
		for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
			const words = owner(pid);
			// Flags of Node may stand before the program.
			const at = words.indexOf("--home");
			if (at > 0 && at < 5 && words[at + 1] === this.path) end(Number(pid));
		}
	}

	get socket(): string {
		return socketOf(this.path);
	}

	/** The home before its daemon, with a configuration. */
	make(config = ""): void {
		mkdirSync(this.path, { recursive: true, mode: 0o700 });
		if (config !== "") writeFileSync(join(this.path, "config.yml"), config);
	}

	log = (): string => readFileSync(join(this.path, "daemon.log"), "utf8");

	private readTag(): string {
		try {
			return readFileSync(join(this.path, "tag"), "utf8").trim();
		} catch {
			return "";
		}
	}

	/** Processes that carry a mark of this home. */
	leftovers(): number[] {
		this.tag ||= this.readTag();
		const { tag } = this;
		if (tag === "") return [];
		return readdirSync("/proc")
			.filter((name) => /^\d+$/.test(name))
			.filter((pid) => {
				try {
					return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`SLUICE_MARK=${tag}-`);
				} catch {
					return false;
				}
			})
			.map(Number);
	}

	/** The program of the daemon, and its arguments. */
	protected argv(): string[] {
		program ??= makeProgram("src/daemon/main.ts");
		return [program, "--home", this.path, "--port", "0"];
	}

	/** Starts the process; does not wait for it. */
	spawn(env: Record<string, string> = {}): ChildProcess & { said(): string } {
		const child = spawn(process.execPath, this.argv(), {
			env: { PATH: process.env.PATH ?? "", HOME: this.path, ...env },
			stdio: ["ignore", "ignore", "pipe"],
		});
		this.daemons.push(child);
		let said = "";
		child.stderr?.on("data", (chunk) => {
			said += chunk;
		});
		return Object.assign(child, { said: () => said });
	}

	/** One call of the command line, to its end. */
	async run(args: string[], more: { env?: Record<string, string>; cwd?: string; program?: string } = {}): Promise<Said> {
		const child = spawn(process.execPath, [more.program ?? TestHome.command(), ...args], {
			env: { PATH: process.env.PATH ?? "", HOME: this.path, USER: "ann", SLUICE_HOME: this.path, SLUICE_PORT: "0", ...more.env },
			cwd: more.cwd ?? tmpdir(),
			stdio: ["ignore", "pipe", "pipe"],
		});
		onTestFinished(() => void child.kill("SIGKILL"));
		const said: Said = { code: -1, out: "", err: "" };
		child.stdout.on("data", (chunk) => {
			said.out += chunk;
		});
		child.stderr.on("data", (chunk) => {
			said.err += chunk;
		});
		said.code = await new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
		return said;
	}

	/** The path of the command line's program, for jobs that call it. */
	static command(): string {
		command ??= makeProgram("src/cli/main.ts");
		return command;
	}

	/** Starts it and connects. */
	async up(env: Record<string, string> = {}): Promise<{ child: ChildProcess; client: Client }> {
		const child = this.spawn({ ...(await surroundings(this.path)), ...env });
		const client = await until(async () => {
			if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}: ${child.said()}`);
			return connect(this.socket).catch(() => undefined);
		});
		onTestFinished(() => client.close());
		this.tag = this.readTag();
		return { child, client };
	}

	async kill(child: ChildProcess): Promise<void> {
		child.kill("SIGKILL");
		await this.gone(child);
	}

	gone = (child: ChildProcess) => until(() => child.exitCode !== null || child.signalCode !== null);
}
