// The file `order` in a run's folder (core/text/output-order.ts has the format), and up to where the two streams are noted in it.

import type { Disk } from "../../contracts/disk.ts";
import {
	afterCut,
	burst,
	completed,
	endsOf,
	type OneStream,
	otherStream,
	readSegments,
	type Segment,
	type Sizes,
	segmentLine,
} from "../../core/text/output-order.ts";

/** Maximum size of a burst whose lines are counted. */
const COUNTED_BYTES = 256 * 1024;
const NEWLINE = 10;

export type OrderFile = {
	readonly dir: string;
	/** Up to where each stream has been noted, and the stream of the open segment. */
	ends: Sizes;
	open: OneStream | null;
	segments: number;
};

export const sizesIn = (disk: Disk, dir: string): Sizes => ({
	stdout: disk.size(`${dir}/stdout.log`) ?? 0,
	stderr: disk.size(`${dir}/stderr.log`) ?? 0,
});

const pathOf = (dir: string) => `${dir}/order`;

/** Continues from what an earlier daemon has noted; everything written since then counts as one burst. */
export function openOrder(disk: Disk, dir: string): OrderFile {
	const text = disk.read(pathOf(dir)) ?? "";
	const segments = readSegments(text);
	// The last line of the file is a segment that has ended, so the open segment belongs to the other stream.
	const last = segments.at(-1);
	const order: OrderFile = { dir, ends: endsOf(segments), open: last ? otherStream(last.stream) : null, segments: segments.length };
	const whole = segments.map(segmentLine).join("");
	if (whole !== text) disk.replace(pathOf(dir), whole);
	note(disk, order, completed(segments, sizesIn(disk, dir)).slice(segments.length));
	return order;
}

/** Notes what was written since the last time. `changed`: the streams that were written to, in order, as far as known. */
export function noteBurst(disk: Disk, order: OrderFile, sizes: Sizes, changed: readonly OneStream[]): void {
	note(
		disk,
		order,
		burst(order.ends, sizes, changed, (range) => lineEnds(disk, order.dir, range)),
	);
}

/** Each change of stream ends a segment, which is written to disk before any reader can see what follows it. */
function note(disk: Disk, order: OrderFile, segments: readonly Segment[]): void {
	let text = "";
	for (const { stream, end } of segments) {
		if (order.open !== null && order.open !== stream) {
			text += segmentLine({ stream: order.open, end: order.ends[order.open] });
			order.segments++;
		}
		order.open = stream;
		order.ends[stream] = end;
	}
	if (text !== "") disk.append(pathOf(order.dir), text);
}

/** Adjusts the file after the middle of a log was cut out. */
export function noteCut(disk: Disk, order: OrderFile, stream: OneStream, moved: Parameters<typeof afterCut>[2]): void {
	const open = order.open === null ? [] : [{ stream: order.open, end: order.ends[order.open] }];
	const segments = afterCut([...readSegments(disk.read(pathOf(order.dir)) ?? ""), ...open], stream, moved);
	disk.replace(pathOf(order.dir), segments.slice(0, -1).map(segmentLine).join(""));
	order.ends = endsOf(segments);
	order.open = segments.at(-1)?.stream ?? null;
}

/** The segments of a run's output, up to `sizes`. */
export const segmentsIn = (disk: Disk, dir: string, sizes: Sizes): Segment[] =>
	completed(readSegments(disk.read(pathOf(dir)) ?? ""), sizes);

function lineEnds(disk: Disk, dir: string, { stream, from, to }: { stream: OneStream; from: number; to: number }): number[] | null {
	if (to - from > COUNTED_BYTES) return null;
	const bytes = disk.readAt(`${dir}/${stream}.log`, from, to - from);
	const ends: number[] = [];
	for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) ends.push(from + at + 1);
	if (ends.at(-1) !== to) ends.push(to);
	return ends;
}
