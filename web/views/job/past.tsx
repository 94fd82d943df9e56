// A job's past and its fields: its history, its changes, every field.

import { useEffect, useState } from "preact/hooks";
import type { EventDocument, JobDocument } from "../../../src/api/documents.ts";
import { isMove } from "../../../src/core/event.ts";
import { mayAddWords } from "../../../src/core/trust/run-bounds.ts";
import { app } from "../../app.ts";
import { every } from "../../outside.ts";
import { Loading, Moment, Problem } from "../../parts/bits.tsx";
import { copyText } from "../../parts/clipboard.ts";
import { useQuery } from "../../parts/hooks.ts";
import { commandLine } from "../../state/row.ts";
import { count, inWords } from "../../state/words.ts";

const useHistory = (id: number, fresh: string) => useQuery(`history ${id}`, () => app.call("job.history", { id }), fresh);

export function History({ id, fresh }: { id: number; fresh: string }) {
	const { value, problem, again } = useHistory(id, fresh);
	if (!value) return problem ? <Problem text={problem} again={again} /> : <Loading what="the history" />;
	return (
		<table class="plain panel">
			<thead>
				<tr>
					<th scope="col">When</th>
					<th scope="col">What</th>
					<th scope="col">By</th>
					<th scope="col">More</th>
				</tr>
			</thead>
			<tbody>
				{value.events.map((event) => (
					<tr key={event.seq}>
						<td>
							<Moment at={Date.parse(event.at)} how="clock" />
						</td>
						<th scope="row">
							{inWords(event.kind)}
							{isMove(event) ? <span class="dim"> → {inWords(event.data.to)}</span> : null}
						</th>
						<td>{event.by}</td>
						<td class="said dim">{moreOf(event)}</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}

/** The data of an event besides from and to, in one line. */
function moreOf({ data }: EventDocument): string {
	return Object.entries(data)
		.filter(([key, value]) => key !== "from" && key !== "to" && value !== null && value !== undefined)
		.map(
			([key, value]) =>
				`${inWords(key)}: ${typeof value === "object" ? ((value as { detail?: string }).detail ?? JSON.stringify(value)) : String(value)}`,
		)
		.join(" · ");
}

/** Maximum lines of a patch that are shown; the command line shows the rest. */
const PATCH_LINES = 5000;

/** How often the diff of a running job is made anew while it is in sight. */
const DIFF_MS = 5000;

export function Diff({ id, fresh, live }: { id: number; fresh: string; live: "live" | "still" }) {
	const [beat, setBeat] = useState(0);
	useEffect(() => (live === "live" ? every(DIFF_MS, () => document.hidden || setBeat((n) => n + 1)) : undefined), [live]);
	const { value, problem } = useQuery(`diff ${id}`, () => app.call("job.diff", { id }), `${fresh} ${beat}`);
	if (!value) return problem ? <p class="nothing">{problem}</p> : <Loading what="the diff" />;
	const lines = value.patch.split("\n");
	return (
		<>
			{value.patch === "" ? <p class="nothing">It has changed nothing.</p> : null}
			<pre class="patch panel">
				{lines.slice(0, PATCH_LINES).map((line, index) => (
					<span key={index} class={kindOf(line)}>
						{line}
						{"\n"}
					</span>
				))}
			</pre>
			{lines.length > PATCH_LINES ? (
				<p class="dim">
					{count(lines.length - PATCH_LINES)} lines more: <code>sluice diff {id}</code>
				</p>
			) : null}
		</>
	);
}

const kindOf = (line: string): string =>
	line.startsWith("+++") || line.startsWith("---") || line.startsWith("diff ") || line.startsWith("index ")
		? "file"
		: line.startsWith("@@")
			? "hunk"
			: line.startsWith("+")
				? "plus"
				: line.startsWith("-")
					? "minus"
					: "";

export function Details({ job }: { job: JobDocument }) {
	const fields = Object.entries(job).filter(
		([key, value]) =>
			value !== null &&
			value !== false &&
			value !== 0 &&
			!(typeof value === "object" && Object.keys(value as object).length === 0) &&
			key !== "command" &&
			key !== "may_add",
	);
	const mayAdd = mayAddWords(job);
	return (
		<>
			<dl class="pairs panel">
				{job.command ? (
					<>
						<dt>command</dt>
						<dd>
							<code>{commandLine(job.command)}</code>
						</dd>
					</>
				) : null}
				{mayAdd === null ? null : <Pair name="its runs" value={mayAdd} />}
				{fields.map(([key, value]) => (
					<Pair key={key} name={inWords(key)} value={typeof value === "object" ? JSON.stringify(value) : String(value)} />
				))}
			</dl>
			<details class="panel json">
				<summary>As JSON</summary>
				<button type="button" class="small" onClick={() => void copyText(JSON.stringify(job, null, 2), "the job as JSON")}>
					Copy
				</button>
				<pre>{JSON.stringify(job, null, 2)}</pre>
			</details>
		</>
	);
}

const Pair = ({ name, value }: { name: string; value: string }) => (
	<>
		<dt>{name}</dt>
		<dd class="said">{value}</dd>
	</>
);
