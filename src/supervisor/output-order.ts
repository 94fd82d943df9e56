// Notes, while a run writes, which of its two streams came first: the file `order` of its folder (core/output-order.ts has its format).
//
//   state      notices of writes                                              left when
//   watching   the system tells of each change; a burst is noted at its end   too many in a short time, or the system stops telling: sampling
//   sampling   none; the sizes are looked at now and then                     the pause is over: watching, where that is possible and worth it
//
// Only a hint for readers: without the file, stdout comes before stderr. Nothing is written for a run that uses one stream.

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
} from "../core/output-order.ts";
import { type Disk, troubleOf } from "../disk.ts";
import type { Host } from "../host.ts";
import type { Log } from "../log.ts";

/** Notices of one run within one pause: a program that writes faster is sampled, so that it costs the daemon no more than this. */
const NOTICES = 50;
const PAUSE_MS = 100;
/** Where the system sends no notices. */
const SAMPLE_MS = 500;
/** Segments after which a run is sampled once a second: a day of that is 3 MB. */
const MANY_SEGMENTS = 20_000;
const SELDOM_MS = 1000;
/** Bytes of a burst that are read to count its lines. */
const COUNTED_BYTES = 256 * 1024;
const NEWLINE = 10;
/** Turns in which a burst may go on. */
const ROUNDS = 200;

type Noted = {
	dir: string;
	/** How far the streams are noted, and which of them the open segment is of. */
	ends: Sizes;
	open: OneStream | null;
	segments: number;
	/** Streams that changed since the last burst was noted, in order. */
	changed: OneStream[];
	notices: number;
	heard: number;
	/** Notices are counted by pauses. */
	cancelCount: (() => void) | null;
	stopWatching: (() => void) | null;
	cancel: (() => void) | null;
	/** A burst is under way: its notices are being read. */
	flushing: boolean;
	/** Its program is gone. */
	isEnding: boolean;
	isOver: boolean;
};

export type OutputOrder = {
	/** Before the program is started, or when a run is taken over from an earlier daemon. */
	begin(run: string, dir: string): void;
	/** The run is over: what is still to be noted is, then it is let go. */
	end(run: string): void;
	/** The segments so far, with all that is there now; of a run that has ended, all. */
	segments(run: string, dir: string): Segment[];
	/** The middle of a log is about to be cut out; `cut` does it and says what became of it. */
	around(run: string, stream: OneStream, cut: () => { head: number; tail: number; before: number; after: number }): void;
	close(): void;
};

type Parts = { disk: Disk; host: Pick<Host, "after" | "turn">; log: Log };

export function createOutputOrder({ disk, host, log }: Parts): OutputOrder {
	const noted = new Map<string, Noted>();
	const fileOf = (dir: string) => `${dir}/order`;
	const sizesIn = (dir: string): Sizes => ({ stdout: disk.size(`${dir}/stdout.log`) ?? 0, stderr: disk.size(`${dir}/stderr.log`) ?? 0 });

	/** A full disk, or a folder that was taken away: the order is lost, the output is not. */
	const unnoted = ({ dir }: { dir: string }, error: unknown): void =>
		log.debug("the order of a run's output could not be noted", { dir, error: troubleOf(error) });

	/** Each change of stream ends a segment, which is on disk before any reader gets past it. */
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
	 * A write is in the files before its notice is read. So the sizes count only once a later turn has brought no further notice: then they hold what the notices
	 * tell of, and nothing else.
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

	/** No notices for a while. */
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

	/** What an earlier daemon has noted; what was written since then is one burst. */
	function takenUp(dir: string): Noted {
		const text = disk.read(fileOf(dir)) ?? "";
		const segments = readSegments(text);
		const one: Noted = {
			...{ dir, ends: endsOf(segments), open: null, segments: segments.length, changed: [], notices: 0, heard: 0 },
			...{ cancelCount: null, stopWatching: null, cancel: null, flushing: false, isEnding: false, isOver: false },
		};
		const whole = segments.map(segmentLine).join("");
		if (whole !== text) disk.replace(fileOf(dir), whole);
		// The last line is of an ended segment: the open one is of the other stream, from where that was.
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
			// Notices that are on their way come meanwhile.
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
			// What belongs to a burst is shown when its order is known, a moment later.
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
