// One host of a fleet: a daemon with a home of its own and a network of its own to the database, and everything that can be done to them.

import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, connect } from "../../src/api/client.ts";
import { socketOf } from "../../src/api/socket-path.ts";
import { type Network, openTcpProxy } from "../../test/make/stores/tcp-proxy.ts";
import { type Daemon, isGone, kill, reach, startDaemon } from "../daemon.ts";
import { family, type Stray } from "../processes.ts";

export type HostOptions = {
	name: string;
	folder: string;
	/** The database, without a network between. */
	url: string;
	config: string;
	/** What node is to run as a daemon. */
	daemon: readonly string[];
};

/** Errors that another try may not meet. */
const PASSING = ["disconnected", "no_daemon", "closed", "store", "timeout"];

export class FleetHost {
	readonly name: string;
	readonly home: string;
	/** Whether its daemon is meant to be there. */
	private wanted = true;
	private daemon: Daemon | undefined;

	private constructor(
		private readonly options: HostOptions,
		readonly network: Network,
	) {
		this.name = options.name;
		this.home = join(options.folder, options.name);
		mkdirSync(this.home, { mode: 0o700 });
		writeFileSync(join(this.home, "config.yml"), options.config);
	}

	static async make(options: HostOptions): Promise<FleetHost> {
		return new FleetHost(options, await openTcpProxy(Number(new URL(options.url).port)));
	}

	private get socket(): string {
		return socketOf(this.home);
	}

	up(): void {
		this.wanted = true;
		const url = new URL(this.options.url);
		url.port = String(this.network.port);
		this.daemon = startDaemon(this.home, { argv: [...this.options.daemon, "--name", this.name], env: { SLUICE_STORE: url.toString() } });
	}

	/** One that ended by itself (its store was away too long when it started, say) is started again, as an init would. */
	async client(): Promise<Client | undefined> {
		if (!this.daemon || !this.wanted) return undefined;
		if (isGone(this.daemon)) {
			appendFileSync(join(this.home, "chaos.log"), `ended by itself with ${this.daemon.child.exitCode}\n`);
			await sleep(200);
			if (this.wanted && isGone(this.daemon)) this.up();
		}
		return reach(this.home, this.daemon);
	}

	/** A call that is made again when the daemon dies under it, or cannot reach its store. */
	async ask<T>(call: (client: Client) => Promise<T>): Promise<T> {
		for (let tries = 0; ; tries++) {
			const at = await this.client();
			try {
				if (at) return await call(at);
			} catch (error) {
				if (!PASSING.includes((error as { code?: string }).code ?? "") || tries > 100) throw error;
			} finally {
				at?.close();
			}
			await sleep(100);
		}
	}

	/** A call that may fail, or take too long; whether it was done. */
	async tries(call: (client: Client) => Promise<unknown>, ms: number): Promise<boolean> {
		if (!this.daemon || isGone(this.daemon)) return false;
		const at = await connect(this.socket).catch(() => undefined);
		try {
			return at !== undefined && (await Promise.race([call(at).then(() => true), sleep(ms, false)]));
		} catch (error) {
			// Cancelled by a call whose answer was lost, and ended since.
			return (error as { code?: string }).code === "illegal_transition";
		} finally {
			at?.close();
		}
	}

	async killDaemon(): Promise<void> {
		this.wanted = false;
		if (this.daemon && !isGone(this.daemon)) await kill(this.daemon);
	}

	/** After the daemon, which would start another. The watchers beside the shims are left to end the runs. */
	killGuard(): void {
		for (const { pid, command } of this.processes()) if (command.includes("lease-guard.js")) send(pid, "SIGKILL");
	}

	/** The daemon and everything that it ever started and that still lives. */
	processes = (): Stray[] => family(this.home);

	/** What runs have started: each of these has the mark of one. */
	runProcesses = (): Stray[] =>
		this.processes().filter(({ pid }) => {
			try {
				return /\0SLUICE_RUN_ID=/.test(readFileSync(`/proc/${pid}/environ`, "latin1"));
			} catch {
				return false;
			}
		});

	/** Stopped first: what is stopped starts nothing new while the others are killed. */
	async killAll(): Promise<void> {
		this.wanted = false;
		while (this.processes().length > 0) {
			for (const how of ["SIGSTOP", "SIGKILL"] as const) this.signalAll(how);
			await sleep(5);
		}
		await this.daemon?.gone;
	}

	signalAll(signal: NodeJS.Signals): void {
		for (const { pid } of this.processes()) send(pid, signal);
	}

	signalDaemon(signal: NodeJS.Signals): void {
		if (this.daemon && !isGone(this.daemon)) this.daemon.child.kill(signal);
	}

	log(): string {
		try {
			return readFileSync(join(this.home, "daemon.log"), "utf8");
		} catch {
			return "";
		}
	}

	async down(): Promise<void> {
		const at = await this.client();
		await at?.call("scheduler.down", {});
		at?.close();
		this.wanted = false;
		await this.daemon?.gone;
	}

	async end(): Promise<void> {
		this.network.mend();
		await this.killAll();
		this.network.close();
	}
}

function send(pid: number, signal: NodeJS.Signals): void {
	try {
		process.kill(pid, signal);
	} catch {
		// It has gone by itself.
	}
}
