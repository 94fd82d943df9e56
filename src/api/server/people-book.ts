// The people who share this daemon, as it knows them now: a copy of the store's record, read again whenever an event says that it has changed, on this host
// or another one. Every call of a person asks here, so a removed person and a lowered role count from the next call on.

import { createHash } from "node:crypto";
import type { Log } from "../../contracts/log.ts";
import type { Scheduler } from "../../contracts/scheduler.ts";
import { messageOf } from "../../core/errors.ts";
import { isOpen, type People, type PeopleChange, type PeopleResult, type PersonRole, type PersonSession } from "../../core/trust/people.ts";
import { secret } from "../../host/secret.ts";
import type { Caller } from "../context.ts";

/** The scheduler's clock counts, because it has stamped the sessions: in a fleet it is the same for all hosts. */
type BookParts = { scheduler: Pick<Scheduler, "people" | "events" | "lastEvent" | "now">; log: Pick<Log, "warn"> };

/** As long as a code of `session.code`, so that one field of the page takes both. */
const LINK_BYTES = 16;
const TOKEN_BYTES = 32;
const PREFIX = "person.";

export type SignedIn = { token: string; name: string; role: PersonRole };

/** Secrets are looked up by their digests, so that the time of a look-up tells nothing about them. */
const digest = (text: string): string => createHash("sha256").update(text).digest("base64");

export class PeopleBook {
	private people: People = {};
	private sessions = new Map<string, { name: string; session: PersonSession }>();
	private links = new Set<string>();
	private readonly listeners = new Set<(name: string) => void>();
	private events: AsyncIterator<unknown> | undefined;

	constructor(private readonly parts: BookParts) {}

	async open(): Promise<void> {
		const { scheduler, log } = this.parts;
		const since = await scheduler.lastEvent();
		await this.reload();
		const events = scheduler.events({ since })[Symbol.asyncIterator]();
		this.events = events;
		const follow = async () => {
			for (let step = await events.next(); !step.done; step = await events.next())
				if (step.value.kind === "people_changed") await this.taken(step.value.data.person);
		};
		void follow().catch((error) => log.warn("changes to people are not followed any more", { error: messageOf(error) }));
	}

	close(): void {
		void this.events?.return?.().catch(() => {});
	}

	list(): People {
		return this.people;
	}

	roleOf(name: string): PersonRole | undefined {
		return Object.hasOwn(this.people, name) ? this.people[name]?.role : undefined;
	}

	/** The role that a caller has now: a person's may have changed since the caller was identified. Undefined: the person or the session is gone. */
	roleNow({ person, role }: Caller): Caller["role"] | undefined {
		if (person === undefined) return role;
		if (person.session === null) return this.roleOf(person.name) ?? person.otherwise;
		return this.openSession(person.session) === person.name ? this.roleOf(person.name) : undefined;
	}

	/** The person with this token, with the digest of the session. */
	find(token: string): { name: string; role: PersonRole; session: string } | undefined {
		if (!token.startsWith(PREFIX)) return undefined;
		const session = digest(token);
		const name = this.openSession(session);
		const role = name === undefined ? undefined : this.roleOf(name);
		return name === undefined || role === undefined ? undefined : { name, role, session };
	}

	/** Whether this is the code of a link, used or not. */
	hasLink(code: string): boolean {
		return this.links.has(digest(code));
	}

	isToken(token: string): boolean {
		return token.startsWith(PREFIX);
	}

	/** Adds a person with a link. The code of a link is returned once, and kept as a digest. */
	async add(name: string, role: PersonRole, by: string): Promise<{ code: string }> {
		const code = secret(LINK_BYTES);
		await this.change({ do: "add", name, role, link: digest(code) }, by);
		return { code };
	}

	async link(name: string, by: string): Promise<{ code: string; role: PersonRole }> {
		const code = secret(LINK_BYTES);
		const result = await this.change({ do: "link", name, link: digest(code) }, by);
		return { code, role: result !== null && "role" in result ? result.role : "viewer" };
	}

	/** Exchanges the code of a link for a session token. The store decides which caller is the first. */
	async signIn(code: string, from: string): Promise<SignedIn | { why: "unknown" | "used" | "expired" }> {
		const link = digest(code);
		// A code that no person has costs a read of the copy, and no transaction: guesses are cheap for the daemon.
		if (!this.links.has(link)) await this.reload();
		if (!this.links.has(link)) return { why: "unknown" };
		const token = `${PREFIX}${secret(TOKEN_BYTES)}`;
		const result = await this.change({ do: "sign_in", link, session: digest(token), from }, "sign-in");
		if (result === null || "why" in result) return { why: result?.why ?? "unknown" };
		return { token, ...result };
	}

	async signOut(session: string): Promise<void> {
		await this.change({ do: "sign_out", session }, "sign-out");
	}

	/** Resolves when the change counts here; other hosts hear of it. */
	async change(change: PeopleChange, by: string): Promise<PeopleResult> {
		const result = await this.parts.scheduler.people.change(change, { by });
		if (result !== null && "name" in result) await this.taken(result.name);
		return result;
	}

	/** Calls back after each change with the name of the person. */
	onChange(call: (name: string) => void): () => void {
		this.listeners.add(call);
		return () => this.listeners.delete(call);
	}

	private async taken(name: string): Promise<void> {
		await this.reload();
		for (const call of this.listeners) call(name);
	}

	private async reload(): Promise<void> {
		const people = await this.parts.scheduler.people.read();
		const all = Object.entries(people);
		this.people = people;
		this.sessions = new Map(all.flatMap(([name, { sessions }]) => sessions.map((session) => [session.digest, { name, session }] as const)));
		this.links = new Set(all.flatMap(([, { links, spent }]) => [...links, ...spent].map((one) => one.digest)));
	}

	private openSession(session: string): string | undefined {
		const found = this.sessions.get(session);
		return found && isOpen(found.session, this.parts.scheduler.now()) ? found.name : undefined;
	}
}
