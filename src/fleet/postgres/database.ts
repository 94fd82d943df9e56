// The database of a fleet on PostgreSQL, as one process has it open: a connection for its messages, one for its snapshots, and one that stands for the lead.
//
// The lead is an advisory lock that the leader's session holds. Only candidates try to get it: one that merely may lead needs one of a few places, and so does a
// process that listens. Ranks decide who should lead: a candidate of a higher rank writes it into `head`, and the leader hands over.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Store } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import { type Address, addressOf, directly } from "../../stores/address.ts";
import { DatabaseClock } from "../../stores/postgres/clock.ts";
import { type Connection, connect } from "../../stores/postgres/connection.ts";
import { settings } from "../../stores/postgres/dialect.ts";
import { PREPARE_MS, prepareSchema } from "../../stores/postgres/prepare.ts";
import { Reconnecting } from "../../stores/postgres/reconnecting.ts";
import { openSnapshots } from "../../stores/postgres/snapshots.ts";
import { beginTerm, connectToLead, tryToLead } from "../../stores/postgres/term.ts";
import type { FleetDatabase, Leadership, Post } from "../database.ts";
import { MESSAGES } from "../messages.ts";
import { PostgresLeaderStore } from "./leader-store.ts";
import { openPost } from "./post.ts";

/** How long to wait for a connection, and for an answer. */
const PATIENCE_MS = 10_000;
/** How long a lost connection is tried again for one statement: the statement itself is repeated. */
const LINE_PATIENCE_MS = 2_000;
/** How long a process that found no place waits before it looks again: up to twice as long, so that not all look at once. */
const NO_PLACE_MS = 30_000;
/** Payloads of notifications: a request for the leader, replies for all members; otherwise the members' names, up to so many. */
const LEADER = "leader";
const EVERY_MEMBER = "*";
const NAMED_MAX = 100;

/** Places are advisory locks of sessions, by the first of their two keys: the server frees the place of a process that was killed. */
type Places = { firstKey: number; count: number };
const CANDIDATES: Places = { firstKey: 7_551_230, count: 5 };
/** Each NOTIFY wakes all listeners of a database, whatever their schema, and takes the longer the more there are. */
const LISTENERS: Places = { firstKey: 7_551_240, count: 30 };

/** Takes a free one of these places for the session. `scope`: other names have places of their own. */
async function takePlace(session: Connection, { firstKey, count }: Places, scope: string): Promise<boolean> {
	const { rows } = await session.query(
		"SELECT key FROM generate_series($1::int, $2::int) AS key WHERE pg_try_advisory_lock(key, hashtext($3)) LIMIT 1",
		[firstKey, firstKey + count - 1, scope],
	);
	return rows.length > 0;
}

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
	// Learns the database's clock.
	await database.post.poll([]);
	return database;
}

class PostgresFleetDatabase implements FleetDatabase {
	readonly member: string;
	readonly post: Post;
	readonly snapshots: Store;
	private readonly clock: DatabaseClock;
	/** What transactions get as the time; undefined: the caller's clock counts. */
	private readonly storeClock: DatabaseClock | undefined;
	private readonly channel: string;
	/** A later version of the messages counts for more than a wish to lead. */
	private readonly rank: number;
	private readonly line: Reconnecting;
	private candidate: Connection | undefined;
	private candidateFrom = Number.NEGATIVE_INFINITY;
	private readonly hearers = new Set<(to: "leader" | "member") => void>();
	private listens = false;
	private cancelListen = () => {};

	constructor(
		private readonly address: Address,
		private readonly options: FleetDatabaseOptions,
	) {
		const { schema } = address;
		const { member, host, lead, monotonic, after } = options;
		this.member = member;
		this.rank = MESSAGES * 10 + (lead === "prefer" ? 1 : 0);
		this.clock = new DatabaseClock(monotonic);
		this.storeClock = options.clock === "caller" ? undefined : this.clock;
		this.channel = `sluice_${schema}`;
		const common = { name: member, monotonic, after };
		this.line = new Reconnecting(address, {
			...common,
			patienceMs: LINE_PATIENCE_MS,
			queryMs: PATIENCE_MS,
			settings: settings("SESSION"),
			onConnected: (connection) => this.hearNotices(connection),
		});
		this.snapshots = openSnapshots(address, { ...common, patienceMs: PATIENCE_MS, clock: this.storeClock });
		this.post = openPost({
			...{ schema, member, host },
			reach: () => this.line.reach(),
			onSent: () => this.notify(LEADER),
			onClock: (at) => this.clock.learn(at),
		});
	}

	now(): number {
		return this.clock.now();
	}

	async lead(): Promise<Leadership | undefined> {
		const { fault, monotonic, host, member } = this.options;
		fault?.("lead");
		const session = await this.standForLead();
		if (!session) return undefined;
		const { schema } = this.address;
		if (!(await tryToLead(session, schema))) {
			await session.query(`UPDATE "${schema}".head SET successor = $1 WHERE rank < $1 AND successor < $1`, [this.rank]);
			return undefined;
		}
		this.candidate = undefined;
		try {
			const { epoch, txn, now } = await beginTerm(session, schema, { leader: host ?? member, rank: this.rank });
			this.clock.learn(now);
			const parts = {
				rank: this.rank,
				monotonic,
				reach: () => this.line.reach(),
				onReplies: (members: string[]) => this.notify(members.length > NAMED_MAX ? EVERY_MEMBER : members.join(" ")),
			};
			return { epoch, store: new PostgresLeaderStore(session, { schema, epoch, txn, fault, clock: this.storeClock }, parts) };
		} catch (error) {
			// The session holds the lead: it must not outlive this.
			await session.end();
			throw error;
		}
	}

	async isLed(): Promise<boolean> {
		const { rows } = await (await this.line.reach()).query(
			`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = 7551221 AND objid = hashtext($1)::bigint & 4294967295
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
			[this.address.schema],
		);
		return rows.length > 0;
	}

	async wasCommitted(epoch: number, txn: number): Promise<boolean> {
		const { rows } = await (await this.line.reach()).query(
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
		this.cancelListen();
		await Promise.all([this.line.close(), this.candidate?.end()]);
	}

	/** The session with which this process is a candidate; undefined while all places are taken. */
	private async standForLead(): Promise<Connection | undefined> {
		const { monotonic, after, chance, member, lead } = this.options;
		const { schema, display } = this.address;
		if (this.candidate?.alive) return this.candidate;
		if (monotonic() < this.candidateFrom) return undefined;
		const session = await connectToLead(this.address, { name: member, patienceMs: PATIENCE_MS, after });
		if (!session.direct) {
			await session.end();
			throw new SluiceError("store", `${display} is a pooler, and a leader needs a connection to the server itself`, {
				hint: "name the server: …?direct=HOST:PORT, or let other hosts lead: host.lead: never",
			});
		}
		const { rows } = await session.query("SELECT has_table_privilege($1, 'UPDATE')", [`"${schema}".head`]);
		const isAllowed = rows[0]?.[0] === true;
		if (lead === "prefer" || (isAllowed && (await takePlace(session, CANDIDATES, schema)))) this.candidate = session;
		else {
			this.candidateFrom = isAllowed ? monotonic() + NO_PLACE_MS * (1 + chance()) : Number.POSITIVE_INFINITY;
			await session.end();
		}
		return this.candidate;
	}

	/** Each new connection of the messages listens if it can. Behind a pooler no process listens. */
	private async hearNotices(connection: Connection): Promise<void> {
		this.listens = false;
		if (!connection.direct) return;
		connection.onNotice((payload) => {
			const to = payload === LEADER ? "leader" : payload === EVERY_MEMBER || payload.includes(this.member) ? "member" : null;
			if (to !== null) for (const call of this.hearers) call(to);
		});
		// If that fails, the connection is lost, and the next one listens.
		await this.listen(connection).catch(() => {});
	}

	private async listen(connection: Connection): Promise<void> {
		this.cancelListen();
		if (!connection.alive) return;
		if (await takePlace(connection, LISTENERS, "")) {
			await connection.query(`LISTEN "${this.channel}"`);
			this.listens = true;
		} else
			this.cancelListen = this.options.after(NO_PLACE_MS * (1 + this.options.chance()), () => void this.listen(connection).catch(() => {}));
	}

	/** Not waited for, and never inside a transaction: a lost notification only costs time. Only among few: who listens is one of them. */
	private notify(whom: string): void {
		if (!this.listens) return;
		void this.line
			.reach()
			.then((connection) => connection.query("SELECT pg_notify($1, $2)", [this.channel, whom]))
			.catch(() => {});
	}
}
