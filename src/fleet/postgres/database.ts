// The database of a fleet on PostgreSQL, as one process has it open: a connection for its messages, one for its snapshots, and one that stands for the lead.
//
// A candidate that only may lead holds one of a few places by an advisory lock, and only holders of a place look whether the lead is free: the lead is an advisory lock too, held by the
// leader's session. The place is given up with the session. Ranks decide who should lead: a candidate of a higher rank writes it into `head`, and the leader hands over.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Store } from "../../contracts/store.ts";
import { codeOf, SluiceError } from "../../core/errors.ts";
import { type Address, addressOf, directly } from "../../stores/address.ts";
import { DatabaseClock } from "../../stores/postgres/clock.ts";
import { type Connection, connect } from "../../stores/postgres/connection.ts";
import { settings } from "../../stores/postgres/dialect.ts";
import { PREPARE_MS, prepareSchema } from "../../stores/postgres/prepare.ts";
import { Reconnecting } from "../../stores/postgres/reconnecting.ts";
import { openSnapshots } from "../../stores/postgres/snapshots.ts";
import { type BegunTerm, beginTerm, connectToLead, tryToLead } from "../../stores/postgres/term.ts";
import type { FleetDatabase, Leadership, Post } from "../database.ts";
import { MESSAGES } from "../messages.ts";
import { PostgresLeaderStore } from "./leader-store.ts";
import { openPost } from "./post.ts";

/** How long to wait for a connection, and for an answer. */
const PATIENCE_MS = 10_000;
/** How long a lost connection is tried again for one statement: the statement itself is repeated. */
const LINE_PATIENCE_MS = 2_000;
/** Places of candidates, and how long a process that found none waits before it looks again: between once and twice this. */
const PLACES = 5;
const NO_PLACE_MS = 30_000;
/** Up to so many processes of the database are notified: each NOTIFY wakes all listeners of a database, and takes the longer the more there are. */
const LISTENERS_MAX = 30;
const COUNT_LISTENERS_MS = 30_000;
/** Payloads of notifications: a request for the leader, replies for all members; otherwise the members' names, up to so many. */
const LEADER = "leader";
const EVERY_MEMBER = "*";
const NAMED_MAX = 100;
/** The first keys of advisory locks; the second key is the schema. */
const THIS_DATABASE = "(SELECT oid FROM pg_database WHERE datname = current_database())";
const PLACE_KEY = 7_551_230;
/** SQLSTATE of a role that lacks a right. */
const FORBIDDEN = "42501";
const LISTENER_KEY = 7_551_222;

export type FleetDatabaseOptions = {
	member: string;
	/** The name of this process's host. */
	host: string | null;
	lead: "prefer" | "may" | "never";
	monotonic: Clock["monotonic"];
	after: Host["after"];
	chance: () => number;
	/** Whose time transactions get. The caller's: for tests. */
	clock?: "database" | "caller";
	fault?: ((point: string) => void) | undefined;
};

export async function openFleetDatabase(url: string, options: FleetDatabaseOptions): Promise<FleetDatabase> {
	const address = addressOf(url);
	const preparing = await connect(directly(address), { name: options.member, patienceMs: PATIENCE_MS, queryMs: PREPARE_MS });
	await prepareSchema(preparing, address).finally(() => preparing.end());
	const database = new PostgresFleetDatabase(address, options);
	await database.start();
	return database;
}

const isForbidden = (error: unknown): boolean => error instanceof Error && codeOf(error.cause) === FORBIDDEN;

class PostgresFleetDatabase implements FleetDatabase {
	readonly member: string;
	readonly post: Post;
	readonly snapshots: Store;
	private readonly clock: DatabaseClock;
	private readonly channel: string;
	/** A later version of the messages counts for more than a wish to lead. */
	private readonly rank: number;
	private readonly line: Reconnecting;
	/** The connection that was told to listen, or need not. */
	private readied: Connection | undefined;
	private candidate: Connection | undefined;
	private placeFrom = Number.NEGATIVE_INFINITY;
	private readonly hearers = new Set<(to: "leader" | "member") => void>();
	private listens = false;
	private cancelCount = () => {};
	private closed = false;

	constructor(
		private readonly address: Address,
		private readonly options: FleetDatabaseOptions,
	) {
		const { schema } = address;
		this.member = options.member;
		this.rank = MESSAGES * 10 + (options.lead === "prefer" ? 1 : 0);
		this.clock = new DatabaseClock(options.monotonic);
		this.channel = `sluice_${schema}`;
		const reach = () => this.reach();
		this.post = openPost({
			schema,
			member: options.member,
			host: options.host,
			reach,
			onSent: () => this.notify(LEADER),
			onClock: (at) => this.clock.learn(at),
		});
		const clock = options.clock === "caller" ? undefined : this.clock;
		const { member: name, monotonic, after } = options;
		this.line = new Reconnecting(address, {
			name,
			monotonic,
			after,
			patienceMs: LINE_PATIENCE_MS,
			queryMs: PATIENCE_MS,
			settings: settings("SESSION"),
		});
		this.snapshots = openSnapshots(address, { name, monotonic, after, patienceMs: PATIENCE_MS, clock });
	}

	async start(): Promise<void> {
		await this.post.poll([]);
	}

	now(): number {
		return this.clock.now();
	}

	async lead(): Promise<Leadership | undefined> {
		this.options.fault?.("lead");
		const session = await this.standForLead();
		if (!session) return undefined;
		const { schema } = this.address;
		if (!(await tryToLead(session, schema))) {
			// A role that may not write `head` may not lead either.
			const wish = `UPDATE "${schema}".head SET successor = $1 WHERE rank < $1 AND successor < $1`;
			await session.query(wish, [this.rank]).catch((error) => (isForbidden(error) ? undefined : Promise.reject(error)));
			return undefined;
		}
		this.candidate = undefined;
		const term = await this.beginTerm(session);
		if (!term) return undefined;
		const { epoch, txn, now } = term;
		this.clock.learn(now);
		const { fault, monotonic } = this.options;
		const clock = this.options.clock === "caller" ? undefined : this.clock;
		const store = new PostgresLeaderStore(
			session,
			{ schema, epoch, txn, fault, clock },
			{
				rank: this.rank,
				monotonic,
				reach: () => this.reach(),
				onReplies: (members) => this.notify(members.length > NAMED_MAX ? EVERY_MEMBER : members.join(" ")),
			},
		);
		return { epoch, store };
	}

	/** Undefined: the role of this process may not lead. */
	private async beginTerm(session: Connection): Promise<BegunTerm | undefined> {
		const leader = this.options.host ?? this.member;
		try {
			return await beginTerm(session, this.address.schema, { leader, rank: this.rank });
		} catch (error) {
			// The session holds the lead: it must not outlive this.
			await session.end();
			if (!isForbidden(error) || this.options.lead === "prefer") throw error;
			this.placeFrom = Number.POSITIVE_INFINITY;
			return undefined;
		}
	}

	async isLed(): Promise<boolean> {
		const { rows } = await (await this.reach()).query(
			`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = 7551221 AND objid = hashtext($1)::bigint & 4294967295 AND database = ${THIS_DATABASE}`,
			[this.address.schema],
		);
		return rows.length > 0;
	}

	async wasCommitted(epoch: number, txn: number): Promise<boolean> {
		const { rows } = await (await this.reach()).query(
			`SELECT first_txn FROM "${this.address.schema}".term WHERE epoch > $1 ORDER BY epoch LIMIT 1`,
			[epoch],
		);
		// Until the epoch is raised, the server may still be carrying out the commit.
		if (rows.length === 0) throw new Error("the commit is not decided before another term begins");
		return Number(rows[0]?.[0]) >= txn;
	}

	hear(call: (to: "leader" | "member") => void): () => void {
		this.hearers.add(call);
		return () => this.hearers.delete(call);
	}

	async close(): Promise<void> {
		this.closed = true;
		this.cancelCount();
		await Promise.all([this.line.close(), this.candidate?.end()]);
	}

	/** The session with which this process is a candidate; undefined while all places are taken. */
	private async standForLead(): Promise<Connection | undefined> {
		const { monotonic, after, chance, member } = this.options;
		if (this.candidate?.alive) return this.candidate;
		if (monotonic() < this.placeFrom) return undefined;
		const session = await connectToLead(this.address, { name: member, patienceMs: PATIENCE_MS, after });
		if (!session.direct) {
			await session.end();
			throw new SluiceError("store", `${this.address.display} is a pooler, and a leader needs a connection to the server itself`, {
				hint: "name the server: …?direct=HOST:PORT, or let other hosts lead: host.lead: never",
			});
		}
		if (this.options.lead === "prefer") {
			this.candidate = session;
			return session;
		}
		const places = Array.from({ length: PLACES }, (_, place) => place);
		const { rows } = await session.query(
			`SELECT p FROM unnest($1::int[]) AS p WHERE pg_try_advisory_lock(${PLACE_KEY} + p, hashtext($2)) LIMIT 1`,
			[places, this.address.schema],
		);
		if (rows.length > 0) this.candidate = session;
		else {
			this.placeFrom = monotonic() + NO_PLACE_MS * (1 + chance());
			await session.end();
		}
		return this.candidate;
	}

	/** The connection of this process's messages; made anew if it was lost. */
	private async reach(): Promise<Connection> {
		const connection = await this.line.reach();
		if (this.readied === connection) return connection;
		this.readied = connection;
		this.listens = false;
		connection.onNotice((payload) => {
			const to = payload === LEADER ? "leader" : payload === EVERY_MEMBER || payload.includes(this.member) ? "member" : null;
			if (to !== null) for (const call of this.hearers) call(to);
		});
		// If that fails, the next statement tries again.
		await this.countListeners(connection).catch(() => {
			this.readied = undefined;
		});
		return connection;
	}

	/** Listens while few processes do. Behind a pooler a process cannot listen. */
	private async countListeners(connection: Connection): Promise<void> {
		this.cancelCount();
		if (this.closed || !connection.direct || !connection.alive) return;
		const { rows } = await connection.query(
			`SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND database = ${THIS_DATABASE}`,
			[LISTENER_KEY],
		);
		const wants = Number(rows[0]?.[0]) - (this.listens ? 1 : 0) < LISTENERS_MAX;
		if (wants !== this.listens) {
			const lock = `pg_advisory_${wants ? "" : "un"}lock_shared(${LISTENER_KEY}, hashtext($1))`;
			await connection.query(`SELECT ${lock}`, [this.address.schema]);
			await connection.query(`${wants ? "LISTEN" : "UNLISTEN"} "${this.channel}"`);
		}
		this.listens = wants;
		this.cancelCount = this.options.after(COUNT_LISTENERS_MS, () => void this.countListeners(connection).catch(() => {}));
	}

	/** Not waited for, and never inside a transaction: a lost notification only costs time. */
	private notify(whom: string): void {
		if (!this.listens) return;
		void this.reach()
			.then((connection) => connection.query("SELECT pg_notify($1, $2)", [this.channel, whom]))
			.catch(() => {});
	}
}
