// Bounds what a run's logs take up.

import { STREAMS } from "../core/output-order.ts";
import { troubleOf } from "../disk.ts";
import { moveOn } from "./agent.ts";
import type { Floor } from "./floor.ts";
import type { LiveRun } from "./run.ts";

/** As much of a log's end stays when its middle goes. */
const KEEP_TAIL = 1_000_000;

/**
 * A log over the limit keeps its first half and its last megabyte; what is between is cut out, and a line says so. Programs append through a
 * descriptor, so they go on at the new end and notice nothing. What they write at this very moment may be lost with the middle.
 */
export function boundLogs(floor: Floor, run: LiveRun): void {
	const max = floor.settings().max_log_bytes;
	if (max === null) return;
	for (const stream of STREAMS) {
		const path = `${run.dir}/${stream}.log`;
		const size = floor.disk.size(path) ?? 0;
		if (size <= max) continue;
		try {
			const head = Math.floor(max / 2);
			const tail = Math.min(KEEP_TAIL, Math.floor(max / 4));
			const end = new TextDecoder().decode(floor.disk.readAt(path, size - tail, tail));
			floor.order.around(run.id, stream, () => {
				floor.disk.cut(path, head);
				floor.disk.append(path, `\n[sluice: ${size - head - tail} bytes left out: the log was longer than ${max} bytes]\n${end}`);
				const cut = { head, tail, before: size, after: floor.disk.size(path) ?? 0 };
				if (stream === "stdout") moveOn(run.agent, cut);
				return cut;
			});
			if (!run.logsCut.has(stream)) floor.log.warn("a log is over max_log", { run: run.id, stream, size, max });
			run.logsCut.add(stream);
		} catch (error) {
			floor.log.warn("a log could not be cut", { run: run.id, stream, error: troubleOf(error) });
		}
	}
}
