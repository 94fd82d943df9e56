// A look into a fleet's database from outside, past every daemon: how far the work is, what was told, what was left behind.

import pg from "pg";
import type { Told } from "./replay.ts";

type Row = Record<string, unknown>;
export type Host = { name: string; state: string; lease_until?: number };

export class Database {
	constructor(private readonly url: string) {}

	/** Asked again while the database is being restarted. */
	private async ask(text: string): Promise<Row[]> {
		for (let tries = 0; ; tries++) {
			const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: 5000, query_timeout: 20_000 });
			client.on("error", () => {});
			try {
				await client.connect();
				return (await client.query(text)).rows as Row[];
			} catch (error) {
				if (tries >= 50) throw error;
				await new Promise((resolve) => setTimeout(resolve, 100));
			} finally {
				await client.end().catch(() => {});
			}
		}
	}

	async open(): Promise<number> {
		return Number((await this.ask("SELECT count(*) AS n FROM sluice.job"))[0]?.n);
	}

	async ended(): Promise<number> {
		return Number((await this.ask("SELECT count(*) AS n FROM sluice.done"))[0]?.n);
	}

	jobs = () => this.named("SELECT id, doc FROM sluice.job UNION ALL SELECT id, doc FROM sluice.done ORDER BY id");
	running = () => this.named("SELECT id, doc FROM sluice.job WHERE status = 'running'");

	private async named(text: string): Promise<{ id: number; name: string }[]> {
		const rows = await this.ask(text);
		return rows.map(({ id, doc }) => ({ id: Number(id), name: (JSON.parse(String(doc)) as { name: string }).name }));
	}

	async events(): Promise<Told[]> {
		const rows = await this.ask("SELECT seq, at, kind, job, data FROM sluice.event ORDER BY seq");
		return rows.map(({ seq, at, kind, job, data }) => ({
			seq: Number(seq),
			at: Number(at),
			kind: String(kind),
			job: job === null ? null : Number(job),
			data: JSON.parse(String(data)) as Record<string, unknown>,
		}));
	}

	async hosts(): Promise<Host[]> {
		const rows = await this.ask("SELECT body FROM sluice.record WHERE kind = 'host' ORDER BY key");
		return rows.map(({ body }) => JSON.parse(String(body)) as Host);
	}

	/** Counts, locks, notes and links that somebody has taken and nobody has given back. */
	async left(): Promise<string[]> {
		const records = await this.ask(
			"SELECT kind, key, body FROM sluice.record WHERE kind IN ('usage', 'lock', 'settle', 'stage', 'reserve')",
		);
		const links = await this.ask("SELECT key, role, job FROM sluice.link WHERE role = 'wants'");
		const held = records.filter(({ kind, body }) => kind !== "usage" || Number(JSON.parse(String(body))) !== 0);
		return [
			...held.map(({ kind, key, body }) => `${kind} ${key} is left: ${body}`),
			...links.map(({ key, role, job }) => `job ${job} ${role} ${key} still`),
		];
	}
}
