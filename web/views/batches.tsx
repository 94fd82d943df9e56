// Batches: the progress of each, by status, and actions on all of its jobs.

import { useState } from "preact/hooks";
import type { BatchDocument } from "../../src/api/protocol/batch.ts";
import type { Status } from "../../src/core/job.ts";
import { app } from "../app.ts";
import { cancelBatch, closeBatch, pause, resume, retryBatch } from "../parts/actions.ts";
import { Empty, Loading, Moment, Problem, statusWord } from "../parts/bits.tsx";
import { useNews, useQuery } from "../parts/hooks.ts";
import { count, dollars } from "../state/words.ts";

const ORDER: Status[] = [
	"succeeded",
	"running",
	"queued",
	"waiting_on_deps",
	"waiting_on_locks",
	"blocked_by_dependency",
	"failed",
	"cancelled",
	"expired",
];
const RETRIED: Status[] = ["failed", "cancelled", "expired"];

export function Batches() {
	useNews("status", "link");
	const [all, setAll] = useState(true);
	const { value, problem, again } = useQuery(`batches ${all}`, () => app.call("batch.list", { all }), String(app.revision));
	const forecast = useQuery("forecast", () => app.call("scheduler.forecast", {}), String(Math.floor(app.revision / 10)));
	if (!value) return problem ? <Problem text={problem} again={again} /> : <Loading what="batches" />;
	const ends = new Map(forecast.value?.batches.map(({ name, end }) => [name, end?.p50 ?? null]));
	const sorted = [...value.batches].sort((a, b) => Number(b.open > 0) - Number(a.open > 0) || (a.name < b.name ? -1 : 1));
	return (
		<>
			<h1 class="unseen">Batches</h1>
			<div class="tools">
				<label>
					<input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} /> closed ones too
				</label>
			</div>
			{sorted.length === 0 ? (
				<Empty title="No batches">
					<p>
						A batch is a name that jobs share: <code>sluice add --batch docs -- make docs</code>, or a whole file with{" "}
						<code>sluice apply</code>.
					</p>
				</Empty>
			) : (
				<ul class="batches">
					{sorted.map((batch) => (
						<Batch key={batch.name} batch={batch} end={ends.get(batch.name) ?? null} />
					))}
				</ul>
			)}
		</>
	);
}

function Batch({ batch, end }: { batch: BatchDocument; end: string | null }) {
	const { name, state, open, total, counts, cost_micro, owned } = batch;
	const paused = app.status?.holds.some((hold) => hold.kind === "paused" && hold.scope === `batch:${name}`) ?? false;
	const parts = ORDER.flatMap((status) => (counts[status] ? [{ status, n: counts[status] }] : []));
	return (
		<li class="panel">
			<div class="head">
				<h2>
					<button type="button" class="link" onClick={() => app.go({ view: "board", filter: { batch: name } })}>
						{name}
					</button>
					{paused ? <span class="chip paused">paused</span> : null}
					{state === "closed" ? <span class="chip">closed</span> : owned ? <span class="chip">open until you close it</span> : null}
				</h2>
				<span class="num dim">
					{count(total - open)} of {count(total)}
					{cost_micro ? ` · ${dollars(cost_micro)}` : ""}
					{end && open > 0 ? (
						<>
							{" "}
							· done <Moment at={Date.parse(end)} />
						</>
					) : null}
				</span>
				{app.mayAct ? (
					<span class="acts">
						<button type="button" class="small" onClick={() => app.go({ view: "graph", filter: { batch: name } })}>
							Graph
						</button>
						{open > 0 ? (
							<button type="button" class="small" onClick={() => (paused ? resume({ batch: name }) : pause({ batch: name }))}>
								{paused ? "Resume" : "Pause"}
							</button>
						) : null}
						{RETRIED.some((status) => counts[status]) ? (
							<button type="button" class="small" onClick={() => retryBatch(name)}>
								Retry…
							</button>
						) : null}
						{owned && state === "open" ? (
							<button type="button" class="small" onClick={() => closeBatch(name)}>
								Close
							</button>
						) : null}
						{open > 0 ? (
							<button type="button" class="small" onClick={() => cancelBatch(name)}>
								Cancel…
							</button>
						) : null}
					</span>
				) : null}
			</div>
			<div class="stack" role="img" aria-label={parts.map(({ status, n }) => `${n} ${statusWord(status)}`).join(", ")}>
				{parts.map(({ status, n }) => (
					<span key={status} class={status} style={{ flexGrow: n }} />
				))}
			</div>
			<p class="parts">
				{parts.map(({ status, n }) => (
					<span key={status}>
						<i class={`mark ${status}`} /> <span class="num">{count(n)}</span> {statusWord(status)}
					</span>
				))}
			</p>
		</li>
	);
}
