// The database's clock, which is the same for all hosts, as far as it is known without asking.

/** Without an answer for so long it is asked again. */
const SYNC_MS = 10_000;

export class DatabaseClock {
	/** Database time minus monotonic time, and when it was learnt. */
	private offset = 0;
	private syncedAt = Number.NEGATIVE_INFINITY;

	constructor(private readonly monotonic: () => number) {}

	now(): number {
		return Math.floor(this.monotonic() + this.offset);
	}

	isSure(): boolean {
		return this.monotonic() - this.syncedAt < SYNC_MS;
	}

	/** What the database has just told. */
	learn(now: number): number {
		this.syncedAt = this.monotonic();
		this.offset = now - this.syncedAt;
		return Math.floor(now);
	}
}
