// Reads what a live run has done so far: an agent's from its events, that of any other program from the end of its output.

import { lastShownLine, NO_PROGRESS, type RunProgress, shownLine } from "../../core/runs/progress.ts";
import { STREAMS } from "../../core/text/output-order.ts";
import { type AgentRun, readOn } from "../agent.ts";
import type { SupervisorContext } from "../context.ts";
import type { LiveRun } from "../run.ts";

/** Bytes of the output's end that the last line is looked for in. */
const TAIL_BYTES = 4096;

/** Where the output of a run ended when its last line was read, and that line. */
export type LastLine = { sizes: string; line: string | null };

export const isRead = ({ agent }: LiveRun): boolean => agent !== null && agent.output !== "command";

/** What an agent reported; `tool`: the one that is running now. */
export function reportedBy({ reader: { reading } }: AgentRun): RunProgress {
	const used = reading.total?.used ?? reading.steps;
	const running = [...reading.tools.values()].at(-1);
	return {
		...NO_PROGRESS,
		turns: reading.turns,
		tool_calls: reading.tool_calls,
		tool: running ? shownLine(`${running.name}${running.text === "" ? "" : ` ${running.text}`}`) : null,
		message: shownLine(reading.message),
		tokens: used?.tokens ?? reading.seen,
		cost_micro: used?.cost_micro ?? null,
	};
}

/** Reads on in an agent's output. Returns true if there may be more of it. */
export const readFurther = (context: SupervisorContext, run: LiveRun): boolean => isRead(run) && readOn(context, run);

/** The last line that the run wrote, on either stream; read again only if its output has grown. */
export function lastLineOf({ disk }: Pick<SupervisorContext, "disk">, { dir }: Pick<LiveRun, "dir">, before: LastLine | null): LastLine {
	const logs = STREAMS.map((stream) => {
		const path = `${dir}/${stream}.log`;
		return { path, size: disk.size(path) ?? 0, at: disk.changedAt(path) ?? 0 };
	});
	const sizes = logs.map(({ size }) => size).join();
	if (before?.sizes === sizes) return before;
	const written = logs.filter(({ size }) => size > 0).sort((a, b) => b.at - a.at);
	for (const { path, size } of written) {
		const from = Math.max(0, size - TAIL_BYTES);
		const line = lastShownLine(new TextDecoder().decode(disk.readAt(path, from, TAIL_BYTES)));
		if (line !== null) return { sizes, line };
	}
	return { sizes, line: null };
}
