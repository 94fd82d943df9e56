// A job's past and its fields: its history, every field.

import type { EventDocument, JobDocument } from "../../../src/api/documents.ts";
import { isMove } from "../../../src/core/event.ts";
import { mayAddWords } from "../../../src/core/trust/run-bounds.ts";
import { app } from "../../app.ts";
import { Loading, Moment, Problem } from "../../parts/bits.tsx";
import { copyText } from "../../parts/clipboard.ts";
import { useQuery } from "../../parts/hooks.ts";
import { commandLine } from "../../state/row.ts";
import { inWords } from "../../state/words.ts";

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
