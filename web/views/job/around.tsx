// What a job depends on and what depends on it, with links both ways.

import type { JobDocument } from "../../../src/api/documents.ts";
import type { Status } from "../../../src/core/job.ts";
import { app } from "../../app.ts";
import { JobLink, StatusDot } from "../../parts/bits.tsx";
import { useQuery } from "../../parts/hooks.ts";
import { count } from "../../state/words.ts";

const SHOWN = 50;

type Neighbour = { id: number; status: Status | null; command: string };

export function Around({ job, fresh }: { job: JobDocument; fresh: string }) {
	const { id } = job;
	const { value } = useQuery(`around ${id}`, () => app.call("job.graph", { job: id, max_depth: 1 }), fresh);
	const graph = value && "nodes" in value ? value : null;
	const known = new Map(graph?.nodes.map((node) => [node.id, node]));
	const near = (other: number): Neighbour => ({
		id: other,
		status: known.get(other)?.status ?? null,
		command: known.get(other)?.command ?? "",
	});
	const later = [...new Set(graph?.edges.filter((edge) => edge.to === id).map((edge) => edge.from))];
	const artifacts = graph?.edges.filter((edge) => edge.from === id && edge.artifact !== undefined) ?? [];
	if (job.after.length + job.locks.length + later.length + artifacts.length === 0 && job.parent === null) return null;
	return (
		<section class="panel" aria-label="Around it">
			{job.after.length + job.locks.length + artifacts.length > 0 || job.parent !== null ? <h2>Depends on</h2> : null}
			<ul class="list">
				{job.after.slice(0, SHOWN).map(({ job: other, policy }) => (
					<Line key={other} near={near(other)} words={policy} />
				))}
				{job.after.length > SHOWN ? <li class="dim">and {count(job.after.length - SHOWN)} more</li> : null}
				{artifacts.map(({ artifact, state }) => (
					<li key={artifact}>
						<span>{artifact}</span>
						<span class="dim">{state}</span>
					</li>
				))}
				{job.locks.map(({ key, mode }) => (
					<li key={key}>
						<span>lock {key}</span>
						<span class="dim">{mode}</span>
					</li>
				))}
				{job.parent !== null ? (
					<li>
						<JobLink id={job.parent}>
							added by job <span class="num">{job.parent}</span>
						</JobLink>
					</li>
				) : null}
			</ul>
			{later.length > 0 ? <h2 class="after">Needed by</h2> : null}
			<ul class="list">
				{later.slice(0, SHOWN).map((other) => (
					<Line key={other} near={near(other)} words="" />
				))}
				{later.length > SHOWN ? <li class="dim">and {count(later.length - SHOWN)} more</li> : null}
			</ul>
		</section>
	);
}

function Line({ near: { id, status, command }, words }: { near: Neighbour; words: string }) {
	const row = app.jobs.rows.get(id);
	const now = row?.status ?? status;
	return (
		<li>
			<JobLink id={id}>
				{now ? <StatusDot status={now} /> : null} <span class="num">{id}</span> {(row?.label ?? command).slice(0, 120)}
			</JobLink>
			<span class="dim">{words}</span>
		</li>
	);
}
