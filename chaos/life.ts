// The lives of one home's daemon: killed, found dead, started again; and calls that go on with the next one.

import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../src/api/client.ts";
import { type Daemon, isGone, kill, reach, startDaemon } from "./daemon.ts";

const GONE = ["disconnected", "no_daemon", "closed"];

export class Lives {
	kills = 0;
	private daemon: Daemon;

	/** `step`: where the first one shall kill itself; the later ones live until they are killed. */
	constructor(
		private readonly home: string,
		step: string | undefined,
		private readonly argv: string[] | undefined,
		private readonly onDeath: () => void,
	) {
		this.daemon = startDaemon(home, { step, argv });
	}

	get pid(): number | undefined {
		return this.daemon.child.pid;
	}

	/** Whether the one that lives now dies by itself within some seconds. */
	async diesByItself(seconds: number): Promise<boolean> {
		const { daemon } = this;
		const died = await Promise.race([daemon.gone.then(() => true), sleep(seconds * 1000, false)]);
		if (died) this.follow(daemon);
		return died;
	}

	async kill(pauseMs: number): Promise<void> {
		const { daemon } = this;
		if (!isGone(daemon)) await kill(daemon);
		await sleep(pauseMs);
		this.follow(daemon);
	}

	/** Once for each death, whoever notices it first. */
	private follow(dead: Daemon): void {
		if (this.daemon !== dead) return;
		this.kills++;
		this.onDeath();
		this.daemon = startDaemon(this.home, { argv: this.argv });
	}

	async client(): Promise<Client> {
		for (;;) {
			const { daemon } = this;
			const found = await reach(this.home, daemon);
			if (found) return found;
			this.follow(daemon);
		}
	}

	/** A call that is made again when the daemon dies under it. */
	async ask<T>(call: (client: Client) => Promise<T>): Promise<T> {
		for (;;) {
			const at = await this.client();
			try {
				return await call(at);
			} catch (error) {
				if (!GONE.includes((error as { code?: string }).code ?? "")) throw error;
				// It is dying: its exit is a moment away.
				await sleep(10);
			} finally {
				at.close();
			}
		}
	}

	async down(): Promise<void> {
		const at = await this.client();
		await at.call("scheduler.down", {});
		at.close();
		await this.daemon.gone;
	}

	async end(): Promise<void> {
		if (!isGone(this.daemon)) await kill(this.daemon);
	}
}
