// Notes the order in which a run writes to its two streams, in the file `order` of its folder (core/text/output-order.ts has the format).
//
//   state      how writes are noticed                                        next state
//   watching   the system notifies of each change; a burst is noted at its   sampling: too many notifications, or the system stops sending them
//              end
//   sampling   no notifications; the sizes are read at intervals             watching: the pause is over, and watching is possible and worth it
//
// The file is only a hint for readers: without it, stdout comes before stderr. Nothing is written for a run that uses one stream.

import { type Disk, troubleOf } from "../../contracts/disk.ts";
import type { Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import {
	afterCut,
	burst,
	completed,
	endsOf,
	type LineEnds,
	type OneStream,
	otherStream,
	readSegments,
	type Segment,
	type Sizes,
	STREAMS,
	segmentLine,
} from "../../core/text/output-order.ts";

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
/** Maximum size of a burst whose lines are counted. */
const COUNTED_BYTES = 256 * 1024;
const NEWLINE = 10;
/** Maximum number of rounds that `flush` waits for a burst to end. */
const ROUNDS = 200;

type Noted = {
	dir: string;
	/** Up to where each stream has been noted, and the stream of the open segment. */
	ends: Sizes;
	open: OneStream | null;
	segments: number;
	/** Streams that changed since the last burst was noted, in order. */
	changed: OneStream[];
	notices: number;
	heard: number;
	/** Resets the count of notifications after PAUSE_MS. */
	cancelCount: (() => void) | null;
	stopWatching: (() => void) | null;
	cancel: (() => void) | null;
	/** A burst is under way: `flush` waits for its end. */
	flushing: boolean;
	/** The run's program is gone. */
	isEnding: boolean;
	isOver: boolean;
};

export type OutputOrder = {
	/** Called before the program is started, or when a run is adopted from an earlier daemon. */
	begin(run: string, dir: string): void;
	/** Called when the run is over: notes the rest and drops the run. */
	end(run: string): void;
	/** The segments so far, including everything that is in the logs now. */
	segments(run: string, dir: string): Segment[];
	/** Adjusts the order around a cut in the middle of a log; `cut` makes the cut and returns the sizes. */
	around(run: string, stream: OneStream, cut: () => { head: number; tail: number; before: number; after: number }): void;
	close(): void;
};

type Parts = { disk: Disk; host: Pick<Host, "after" | "turn">; log: Log };

export function createOutputOrder({ disk, host, log }: Parts): OutputOrder {
	const noted = new Map<string, Noted>();
	const fileOf = (dir: string) => `${dir}/order`;
	const sizesIn = (dir: string): Sizes => ({ stdout: disk.size(`${dir}/stdout.log`) ?? 0, stderr: disk.size(`${dir}/stderr.log`) ?? 0 });

	/** The disk is full or the folder was removed: the order is lost, the output is not. */
	const unnoted = ({ dir }: { dir: string }, error: unknown): void =>
		log.debug("the order of a run's output could not be noted", { dir, error: troubleOf(error) });

	/** Each change of stream ends a segment, which is written to disk before any reader can see what follows it. */
	function note(one: Noted, segments: readonly Segment[]): void {
		let text = "";
		for (const { stream, end } of segments) {
			if (one.open !== null && one.open !== stream) {
				text += segmentLine({ stream: one.open, end: one.ends[one.open] });
				one.segments++;
			}
			one.open = stream;
			one.ends[stream] = end;
		}
		if (text !== "") disk.append(fileOf(one.dir), text);
	}

	function sample(one: Noted, sizes: Sizes): void {
		const changed = one.changed;
		one.changed = [];
		const linesOf: LineEnds = (range) => lineEnds(disk, one.dir, range);
		note(one, burst(one.ends, sizes, changed, linesOf));
	}

	const sampleSafely = (one: Noted, sizes = sizesIn(one.dir)): void => {
		try {
			sample(one, sizes);
		} catch (error) {
			unnoted(one, error);
		}
	};

	function onWrite(one: Noted, name: string): void {
		const stream = STREAMS.find((stream) => name === `${stream}.log`);
		if (stream === undefined || one.isOver) return;
		if (one.changed.at(-1) !== stream) one.changed.push(stream);
		count(one);
		one.heard++;
		if (one.flushing) return;
		one.flushing = true;
		flush(one)
			.catch((error) => unnoted(one, error))
			.finally(() => {
				one.flushing = false;
			});
	}

	/**
	 * A write reaches the file before its notification is read. So the sizes count only when the turn after they were read brings no further notification:
	 * then they contain exactly the writes that were notified.
	 */
	async function flush(one: Noted): Promise<void> {
		for (let rounds = 0; rounds < ROUNDS && !one.isOver; rounds++) {
			await host.turn();
			const sizes = sizesIn(one.dir);
			const { heard } = one;
			await host.turn();
			if (one.heard === heard && !one.isOver) {
				sampleSafely(one, sizes);
				return;
			}
		}
	}

	function count(one: Noted): void {
		one.notices++;
		one.cancelCount ??= host.after(PAUSE_MS, () => {
			one.cancelCount = null;
			one.notices = 0;
		});
		if (one.notices > NOTICES) rest(one);
	}

	/** Stops watching for a while, because there were too many notifications. */
	function rest(one: Noted): void {
		one.stopWatching?.();
		one.stopWatching = null;
		if (one.cancel === null) wait(one, PAUSE_MS);
	}

	function wait(one: Noted, ms: number): void {
		one.cancel = host.after(ms, () => {
			one.cancel = null;
			if (one.isOver) return;
			sampleSafely(one);
			watch(one);
		});
	}

	function watch(one: Noted): void {
		if (one.segments >= MANY_SEGMENTS) {
			wait(one, SELDOM_MS);
			return;
		}
		const ended = () => {
			one.stopWatching = null;
			if (!one.isOver && one.cancel === null) wait(one, SAMPLE_MS);
		};
		one.stopWatching ??= disk.watch(
			one.dir,
			(name) => onWrite(one, name),
			() => ended(),
		);
		if (one.stopWatching === null) ended();
	}

	function letGo(one: Noted): void {
		one.isOver = true;
		one.stopWatching?.();
		one.stopWatching = null;
		one.cancel?.();
		one.cancelCount?.();
	}

	/** Continues from what an earlier daemon has noted; everything written since then counts as one burst. */
	function takenUp(dir: string): Noted {
		const text = disk.read(fileOf(dir)) ?? "";
		const segments = readSegments(text);
		const one: Noted = {
			...{ dir, ends: endsOf(segments), open: null, segments: segments.length, changed: [], notices: 0, heard: 0 },
			...{ cancelCount: null, stopWatching: null, cancel: null, flushing: false, isEnding: false, isOver: false },
		};
		const whole = segments.map(segmentLine).join("");
		if (whole !== text) disk.replace(fileOf(dir), whole);
		// The last line of the file is a segment that has ended, so the open segment belongs to the other stream.
		const last = segments.at(-1);
		if (last) one.open = otherStream(last.stream);
		note(one, completed(segments, sizesIn(dir)).slice(segments.length));
		return one;
	}

	return {
		begin(run, dir) {
			if (noted.has(run)) return;
			try {
				const one = takenUp(dir);
				noted.set(run, one);
				watch(one);
			} catch (error) {
				unnoted({ dir }, error);
			}
		},
		end(run) {
			const one = noted.get(run);
			if (!one) return;
			one.isEnding = true;
			// Two turns, for notifications that are still on their way.
			void host
				.turn()
				.then(() => host.turn())
				.then(() => {
					if (!one.isOver) sampleSafely(one);
					letGo(one);
					if (noted.get(run) === one) noted.delete(run);
				});
		},
		segments(run, dir) {
			const one = noted.get(run);
			// During a burst, show only what was noted before it: its order is known a moment later.
			if (one && (one.isEnding || !one.flushing)) sampleSafely(one);
			const sizes = one ? one.ends : sizesIn(dir);
			return completed(readSegments(disk.read(fileOf(dir)) ?? ""), sizes);
		},
		around(run, stream, cut) {
			const one = noted.get(run);
			if (one) sampleSafely(one);
			const moved = cut();
			if (!one) return;
			const path = fileOf(one.dir);
			const open = one.open === null ? [] : [{ stream: one.open, end: one.ends[one.open] }];
			const segments = afterCut([...readSegments(disk.read(path) ?? ""), ...open], stream, moved);
			disk.replace(path, segments.slice(0, -1).map(segmentLine).join(""));
			one.ends = endsOf(segments);
			one.open = segments.at(-1)?.stream ?? null;
		},
		close() {
			for (const one of noted.values()) letGo(one);
			noted.clear();
		},
	};
}

function lineEnds(disk: Disk, dir: string, { stream, from, to }: { stream: OneStream; from: number; to: number }): number[] | null {
	if (to - from > COUNTED_BYTES) return null;
	const bytes = disk.readAt(`${dir}/${stream}.log`, from, to - from);
	const ends: number[] = [];
	for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) ends.push(from + at + 1);
	if (ends.at(-1) !== to) ends.push(to);
	return ends;
}
