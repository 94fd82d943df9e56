// The database's clock, which counts for all machines, as far as it is known without asking for it.

/** An estimate is replaced by a smaller one when it is this old. */
const KEPT_MS = 10_000;

export class DatabaseClock {
	/** Database time minus monotonic time, and when it was learnt. */
	private offset = Number.NEGATIVE_INFINITY;
	private learntAt = Number.NEGATIVE_INFINITY;
	private last = Number.NEGATIVE_INFINITY;

	constructor(private readonly monotonic: () => number) {}

	/** Milliseconds, as the database would say now; never less than before. Only meaningful after the first `learn`. */
	now(): number {
		this.last = Math.max(this.last, Math.floor(this.monotonic() + this.offset));
		return this.last;
	}

	/** Takes a time that the database has just told. The largest offset of a while is the best: its answer was delayed least on the way. */
	learn(now: number): void {
		const at = this.monotonic();
		if (now - at < this.offset && at - this.learntAt < KEPT_MS) return;
		this.offset = now - at;
		this.learntAt = at;
	}
}
