// Watches one run's two logs and notes the order of what is written to them.
//
//   state      how writes are noticed                                        next state
//   watching   the system notifies of each change; a burst is noted at its   sampling: too many notifications, or the system stops sending them
//              end
//   sampling   no notifications; the sizes are read at intervals             watching: the pause is over, and watching is possible and worth it

import type { Disk } from "../../contracts/disk.ts";
import type { Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import { messageOf } from "../../core/errors.ts";
import { type OneStream, type Sizes, STREAMS } from "../../core/text/output-order.ts";
import { noteBurst, type OrderFile, sizesIn } from "./order-file.ts";

/**
 * Maximum number of change notifications of one run within PAUSE_MS. A program that writes faster is sampled instead, which limits what it costs the
 * daemon.
 */
const NOTICES = 50;
const PAUSE_MS = 100;
/** Sampling interval if the system sends no notifications. */
const SAMPLE_MS = 500;
/** A run with more segments than this is sampled once a second: that adds up to 3 MB a day. */
const MANY_SEGMENTS = 20_000;
const SELDOM_MS = 1000;
/** Maximum number of rounds that a burst's end is waited for. */
const MAX_BURST_ROUNDS = 200;

export type OutputWatchParts = { disk: Disk; host: Pick<Host, "after" | "turn">; log: Log };

export class OutputWatch {
	readonly #parts: OutputWatchParts;
	readonly #order: OrderFile;
	/** Streams that changed since the last burst was noted, in order. */
	#changed: OneStream[] = [];
	/** Notifications within PAUSE_MS, and since the beginning. */
	#notices = 0;
	#heard = 0;
	#cancelCount: (() => void) | null = null;
	#stopWatching: (() => void) | null = null;
	#cancelSample: (() => void) | null = null;
	#isOver = false;
	/** A burst is under way: its order is known a moment later. */
	isFlushing = false;

	constructor(parts: OutputWatchParts, order: OrderFile) {
		this.#parts = parts;
		this.#order = order;
		this.#watch();
	}

	/** Notes what has been written up to now, or up to `sizes`. If the disk is full or the folder was removed, the order is lost; the output is not. */
	sample(sizes?: Sizes): void {
		const { disk } = this.#parts;
		const changed = this.#changed;
		this.#changed = [];
		try {
			noteBurst(disk, this.#order, sizes ?? sizesIn(disk, this.#order.dir), changed);
		} catch (error) {
			unnoted(this.#parts.log, this.#order.dir, error);
		}
	}

	stop(): void {
		this.#isOver = true;
		this.#stopWatching?.();
		this.#stopWatching = null;
		this.#cancelSample?.();
		this.#cancelCount?.();
	}

	#watch(): void {
		if (this.#order.segments >= MANY_SEGMENTS) {
			this.#sampleIn(SELDOM_MS);
			return;
		}
		const ended = () => {
			this.#stopWatching = null;
			if (!this.#isOver && this.#cancelSample === null) this.#sampleIn(SAMPLE_MS);
		};
		this.#stopWatching ??= this.#parts.disk.watch(this.#order.dir, (name) => this.#onWrite(name), ended);
		if (this.#stopWatching === null) ended();
	}

	#onWrite(name: string): void {
		const stream = STREAMS.find((stream) => name === `${stream}.log`);
		if (stream === undefined || this.#isOver) return;
		if (this.#changed.at(-1) !== stream) this.#changed.push(stream);
		this.#count();
		this.#heard++;
		if (this.isFlushing) return;
		this.isFlushing = true;
		this.#flush()
			.catch((error) => unnoted(this.#parts.log, this.#order.dir, error))
			.finally(() => {
				this.isFlushing = false;
			});
	}

	/**
	 * A write reaches the file before its notification is read. So the sizes count only when the turn after they were read brings no further notification:
	 * then they contain exactly the writes that were notified.
	 */
	async #flush(): Promise<void> {
		const { host, disk } = this.#parts;
		for (let rounds = 0; rounds < MAX_BURST_ROUNDS && !this.#isOver; rounds++) {
			await host.turn();
			const sizes = sizesIn(disk, this.#order.dir);
			const heard = this.#heard;
			await host.turn();
			if (this.#heard === heard && !this.#isOver) {
				this.sample(sizes);
				return;
			}
		}
	}

	/** Stops watching for a while if there are too many notifications. */
	#count(): void {
		this.#notices++;
		this.#cancelCount ??= this.#parts.host.after(PAUSE_MS, () => {
			this.#cancelCount = null;
			this.#notices = 0;
		});
		if (this.#notices <= NOTICES) return;
		this.#stopWatching?.();
		this.#stopWatching = null;
		if (this.#cancelSample === null) this.#sampleIn(PAUSE_MS);
	}

	#sampleIn(ms: number): void {
		this.#cancelSample = this.#parts.host.after(ms, () => {
			this.#cancelSample = null;
			if (this.#isOver) return;
			this.sample();
			this.#watch();
		});
	}
}

export const unnoted = (log: Log, dir: string, error: unknown): void =>
	log.debug("the order of a run's output could not be noted", { dir, error: messageOf(error) });
