// A temporary home with a real daemon, reached as any program would reach it: JSON-RPC over the socket, events over HTTP. Takes everything down again.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, connect } from "../../src/api/client.ts";
import type { EventDocument } from "../../src/api/documents.ts";
import type { MethodName, Params, Result } from "../../src/api/protocol.ts";
import { socketOf } from "../../src/api/socket-path.ts";
import { startDaemon } from "../../src/cli/auto-start.ts";

type Daemon = { client: Client; pid: number; port: number };

export class Session {
	/** What the jobs work in. */
	readonly work: string;
	private readonly folder: string;
	private readonly home: string;
	private daemon: Daemon | undefined;
	/** The last event that was heard of. */
	private seen = 0;
	private closing: Promise<number> | undefined;

	constructor(config: string, programs: Record<string, string>) {
		this.folder = realpathSync(mkdtempSync(join(tmpdir(), "sluice-demo-")));
		this.home = join(this.folder, "home");
		this.work = join(this.folder, "work");
		for (const path of [this.home, this.work]) mkdirSync(path, { mode: 0o700 });
		writeFileSync(join(this.home, "config.yml"), config);
		for (const [name, text] of Object.entries(programs)) writeFileSync(join(this.work, name), text);
	}

	get pid(): number | undefined {
		return this.daemon?.pid;
	}

	get isClosing(): boolean {
		return this.closing !== undefined;
	}

	async start(): Promise<number> {
		// Settings of the caller's own in SLUICE_… are not for this home.
		const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SLUICE_")));
		await startDaemon(this.home, { port: 0, env });
		const client = await connect(this.socket);
		const { pid } = await client.call("scheduler.version", {});
		// It is written when the daemon has found again what ran before; until then the file is the last daemon's.
		let record = this.record();
		for (; record?.pid !== pid; record = this.record()) await sleep(10);
		if (record.port === null) throw new Error("the daemon found no free port on 127.0.0.1");
		this.daemon = { client, pid, port: record.port };
		return pid;
	}

	/** Without any warning. */
	async kill(): Promise<void> {
		const { pid, client } = this.here();
		process.kill(pid, "SIGKILL");
		this.daemon = undefined;
		await client.closed;
		while (isAlive(pid)) await sleep(5);
	}

	call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
		return this.here().client.call(method, params);
	}

	/** Every event, also across the death of a daemon: the next one is asked for what came after the last that was heard. */
	async *events(): AsyncGenerator<EventDocument> {
		for (;;) {
			while (!this.daemon) await sleep(20);
			try {
				for await (const event of this.stream(this.daemon)) {
					this.seen = event.seq;
					yield event;
				}
			} catch (error) {
				if (!(error instanceof TypeError)) throw error;
			}
			await sleep(20);
		}
	}

	private async *stream({ port }: Daemon): AsyncGenerator<EventDocument> {
		const token = readFileSync(join(this.home, "token"), "utf8").trim();
		const answer = await fetch(`http://127.0.0.1:${port}/events`, {
			headers: { Authorization: `Bearer ${token}`, "Last-Event-ID": String(this.seen) },
		});
		if (!answer.ok || !answer.body) throw new Error(`GET /events was answered with ${answer.status}`);
		const decoder = new TextDecoder();
		let rest = "";
		for await (const chunk of answer.body) {
			const frames = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
			rest = frames.pop() ?? "";
			for (const frame of frames) {
				const data = /^data: (.*)$/m.exec(frame)?.[1];
				if (/^event: gap$/m.test(frame)) throw new Error(`events are missing: ${data}`);
				if (data) yield JSON.parse(data) as EventDocument;
			}
		}
	}

	/** What a run has written. Its log is a file, so this needs no daemon. */
	log(job: number, attempt: number): string[] {
		try {
			return readFileSync(join(this.home, "runs", String(job), String(attempt), "stdout.log"), "utf8")
				.trimEnd()
				.split("\n");
		} catch {
			return [];
		}
	}

	/** What the present daemon logs when it is up: how many runs it found alive, how many had ended. The lines of the daemon before it do not count. */
	async found(): Promise<{ adopted: number; ended: number; lost: number }> {
		const { pid } = this.here();
		const ofThisDaemon = (line: string) => line.includes("the daemon is up") && line.includes(` pid=${pid} `);
		let line = this.daemonLog().find(ofThisDaemon);
		for (; line === undefined; line = this.daemonLog().find(ofThisDaemon)) await sleep(10);
		const count = (name: string) => Number(new RegExp(` ${name}=(\\d+)`).exec(line ?? "")?.[1] ?? Number.NaN);
		return { adopted: count("adopted"), ended: count("ended"), lost: count("lost") };
	}

	/** An empty file among the jobs' work. */
	touch(name: string): void {
		writeFileSync(join(this.work, name), "");
	}

	daemonLog(): string[] {
		try {
			return readFileSync(join(this.home, "daemon.log"), "utf8").trimEnd().split("\n");
		} catch {
			return [];
		}
	}

	/** Stops the daemon and everything that it started, and removes the home. How many processes it had to end itself; a second call waits for the first. */
	close(): Promise<number> {
		this.closing ??= this.takeDown();
		return this.closing;
	}

	private async takeDown(): Promise<number> {
		this.daemon?.client.close();
		this.daemon = undefined;
		try {
			// Where there is none, one is started: it knows best what belongs to it.
			const client = await connect(this.socket).catch(async () => {
				await startDaemon(this.home, { port: null });
				return connect(this.socket);
			});
			const { pid } = await client.call("scheduler.version", {});
			await client.call("scheduler.down", { stop_runs: true, grace_ms: 0 });
			await client.closed;
			for (let waited = 0; isAlive(pid) && waited < 5000; waited += 10) await sleep(10);
		} catch {
			// There is no daemon to be had; what is left is ended below.
		}
		const left = this.left();
		for (const pid of left) end(pid);
		this.remove();
		return left.length;
	}

	remove(): void {
		rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
	}

	/** Processes that still belong to this home. Where there is no /proc, nobody can tell. */
	private left(): number[] {
		const mine = (pid: number) => {
			try {
				const [environment, command] = ["environ", "cmdline"].map((file) => readFileSync(`/proc/${pid}/${file}`, "latin1").split("\0"));
				return environment?.includes(`SLUICE_HOME=${this.home}`) || command?.includes(this.home);
			} catch {
				return false;
			}
		};
		return pids().filter((pid) => pid !== process.pid && mine(pid));
	}

	private get socket(): string {
		return socketOf(this.home);
	}

	private record(): { pid: number; port: number | null } | undefined {
		try {
			return JSON.parse(readFileSync(join(this.home, "daemon.json"), "utf8"));
		} catch {
			return undefined;
		}
	}

	private here(): Daemon {
		if (!this.daemon) throw new Error("there is no daemon");
		return this.daemon;
	}
}

function pids(): number[] {
	try {
		return readdirSync("/proc").map(Number).filter(Number.isInteger);
	} catch {
		return [];
	}
}

function end(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// It went by itself.
	}
}

export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
	} catch {
		return false;
	}
	try {
		// One that is dead stays in the table until its parent has asked how it ended.
		return readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.[0] !== "Z";
	} catch {
		return !existsSync("/proc/self/stat");
	}
}
