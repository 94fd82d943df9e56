// The last lines of a run: why it failed, or what it is doing now, without a look into the log.

import { useEffect, useState } from "preact/hooks";
import type { JobDocument } from "../../../src/api/documents.ts";
import { createRenderer } from "../../../src/core/agents/stream/render.ts";
import { app } from "../../app.ts";
import { every } from "../../outside.ts";
import { useQuery } from "../../parts/hooks.ts";
import { plainText } from "../../state/log/ansi.ts";
import { readingOf } from "../../state/log/rows.ts";

const LINES = 20;
const BYTES = 40_000;
const LIVE_MS = 2000;

export function Tail({ job: { id, attempt, status } }: { job: JobDocument }) {
	const isLive = status === "running";
	const [beat, setBeat] = useState(0);
	useEffect(() => (isLive ? every(LIVE_MS, () => document.hidden || setBeat((n) => n + 1)) : undefined), [isLive]);
	const { value } = useQuery(`tail ${id} ${attempt}`, () => read(id), `${status} ${beat}`);
	if (!value || value.length === 0) return null;
	return (
		<section class="panel wide" aria-label="Last lines">
			<h2>
				{isLive ? "What it writes" : "Its last lines"}{" "}
				<button type="button" class="small" onClick={() => app.go({ tab: "log" })}>
					Whole log
				</button>
			</h2>
			<pre class="tail">{value.join("\n")}</pre>
		</section>
	);
}

/** An agent's lines as people read them. */
async function read(id: number): Promise<string[]> {
	const { text, offset, output = "command" } = await app.call("job.logs", { id, offset: -BYTES, limit: BYTES });
	const reading = readingOf(output, "both", "shown");
	// A piece from the middle begins within a line.
	const whole = offset > 0 ? text.slice(text.indexOf("\n") + 1) : text;
	const shown = reading === "raw" ? whole : createRenderer(reading).push(whole);
	return shown.trimEnd().split("\n").slice(-LINES).map(plainText);
}
