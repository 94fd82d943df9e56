// Answers of the daemon that parts of the page show, shared by key. Fresher news never aborts a call in flight: one more call follows when it has ended. The
// last answer stays until the next one arrives, also through a failure; what failed is asked again when the connection is back.

type Ask<T> = () => Promise<T>;

export class SharedQuery<T> {
	value: T | null = null;
	problem: string | null = null;
	users = 0;
	/** The news that the last call knew of. */
	private fresh: string | null = null;
	private isAsking = false;
	private isStale = false;
	private readonly listeners = new Set<() => void>();

	constructor(private ask: Ask<T>) {}

	listen(call: () => void): () => void {
		this.listeners.add(call);
		return () => this.listeners.delete(call);
	}

	/** A part of the page shows it from now on. What was kept without a user may be old, so it is asked for again. */
	join(): () => void {
		if (this.users++ === 0) this.fresh = null;
		return () => {
			this.users--;
		};
	}

	/** Asks unless these news are known already. */
	want(ask: Ask<T>, fresh: string): void {
		this.ask = ask;
		if (this.fresh === fresh && (this.value !== null || this.isAsking)) return;
		this.fresh = fresh;
		this.again();
	}

	again(): void {
		if (this.isAsking) this.isStale = true;
		else void this.run();
	}

	private async run(): Promise<void> {
		this.isAsking = true;
		try {
			this.value = await this.ask();
			this.problem = null;
		} catch (error) {
			this.problem = error instanceof Error ? error.message : String(error);
		}
		this.isAsking = false;
		const isStale = this.isStale && this.users > 0;
		this.isStale = false;
		for (const call of [...this.listeners]) call();
		if (isStale) this.again();
	}
}

/** Answers without a user that are kept, for the way back. */
const KEPT = 30;

export class Queries {
	private readonly known = new Map<string, SharedQuery<unknown>>();

	of<T>(key: string, ask: Ask<T>): SharedQuery<T> {
		const found = this.known.get(key) as SharedQuery<T> | undefined;
		if (found) return found;
		for (const [old, query] of this.known) if (this.known.size >= KEPT && query.users === 0) this.known.delete(old);
		const query = new SharedQuery(ask);
		this.known.set(key, query as SharedQuery<unknown>);
		return query;
	}

	/** After a break: what is in use is asked again. */
	heal(): void {
		for (const query of this.known.values()) if (query.users > 0) query.again();
	}
}

export const queries = new Queries();
