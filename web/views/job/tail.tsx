// The last lines of a run, in their colours: why it failed, or what a command writes now, without a look into the log.

import { useEffect, useState } from "preact/hooks";
import type { JobDocument } from "../../../src/api/documents.ts";
import { app } from "../../app.ts";
import { every } from "../../outside.ts";
import { useQuery } from "../../parts/hooks.ts";
import { type LogRow, readingOf, rowsOf } from "../../state/log/rows.ts";
import { LogText } from "./log-text.tsx";

const LINES = 25;
const BYTES = 40_000;
const LIVE_MS = 2000;

export function Tail({ job: { id, attempt, status } }: { job: JobDocument }) {
	const isLive = status === "running";
	const [beat, setBeat] = useState(0);
	useEffect(() => (isLive ? every(LIVE_MS, () => document.hidden || setBeat((n) => n + 1)) : undefined), [isLive]);
	return (
		<section class="panel" aria-label="Last lines">
			<h2>
				{isLive ? "What it writes" : "Its last lines"}{" "}
				<button type="button" class="small" onClick={() => app.go({ tab: "log", run: null })}>
					Whole log
				</button>
			</h2>
			<LastLines id={id} attempt={attempt} fresh={`${status} ${beat}`} />
		</section>
	);
}

export function LastLines({ id, attempt, fresh }: { id: number; attempt: number; fresh: string }) {
	const { value, problem } = useQuery(`tail ${id} ${attempt}`, () => read(id, attempt), fresh);
	if (!value) return <p class="dim">{problem ?? "…"}</p>;
	if (value.length === 0) return <p class="dim">It has written nothing.</p>;
	return (
		<pre class="tail">
			{value.map((row, index) => (
				<span key={index} class={`${row.stream === "stderr" ? "err" : ""} ${row.kind} ${ERROR.test(row.text) ? "error" : ""}`}>
					<LogText row={row} />
					{"\n"}
				</span>
			))}
		</pre>
	);
}

/** Lines that usually name what went wrong. */
const ERROR = /\b(?:error|fatal|panic(?:ked)?|exception|failed|assert(?:ion)?)\b/i;

/** An agent's lines as people read them. */
async function read(id: number, attempt: number): Promise<LogRow[]> {
	const part = await app.call("job.logs", { id, run: Math.max(1, attempt), offset: -BYTES, limit: BYTES });
	const block = { text: part.text, parts: part.parts, isWithin: part.offset > 0, goesOn: "no" } as const;
	const rows = rowsOf(block, readingOf(part.output, "both", "shown"));
	while (rows.length > 0 && rows.at(-1)?.text.trim() === "") rows.pop();
	return rows.slice(-LINES);
}
