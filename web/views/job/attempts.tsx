// All attempts of a job side by side, and two of them compared.

import { useState } from "preact/hooks";
import type { JobDocument } from "../../../src/api/documents.ts";
import { app } from "../../app.ts";
import { Loading, Moment, Problem, Running, Span } from "../../parts/bits.tsx";
import { useQuery } from "../../parts/hooks.ts";
import { addressOf } from "../../state/route.ts";
import { type RunSeen, runsOf } from "../../state/runs.ts";
import { count, dollars, inWords } from "../../state/words.ts";
import { LastLines } from "./tail.tsx";
import { useDiff } from "./use-diff.ts";

export function Attempts({ job, fresh }: { job: JobDocument; fresh: string }) {
	const { id } = job;
	const { value, problem, again } = useQuery(`history ${id}`, () => app.call("job.history", { id }), fresh);
	const [chosen, choose] = useState<number[]>([]);
	if (!value) return problem ? <Problem text={problem} again={again} /> : <Loading what="attempts" />;
	const runs = runsOf(value.events);
	if (runs.length === 0) return <p class="nothing">It has not run yet.</p>;
	const toggle = (attempt: number) =>
		choose(chosen.includes(attempt) ? chosen.filter((one) => one !== attempt) : [...chosen.slice(-1), attempt]);
	const pair = runs.filter((run) => chosen.includes(run.attempt)).reverse();
	return (
		<>
			<table class="plain panel attempts">
				<thead>
					<tr>
						<th scope="col">Attempt</th>
						<th scope="col">Started</th>
						<th scope="col">Took</th>
						<th scope="col">Waited</th>
						<th scope="col">Where</th>
						<th scope="col">Cost</th>
						<th scope="col">End</th>
						<th scope="col">Failure</th>
						<th scope="col">See</th>
						{runs.length > 1 ? <th scope="col">Compare</th> : null}
					</tr>
				</thead>
				<tbody>
					{runs.map((run) => (
						<Row key={run.attempt} run={run} job={job} isChosen={chosen.includes(run.attempt)} toggle={runs.length > 1 ? toggle : null} />
					))}
				</tbody>
			</table>
			{runs.length > 1 && pair.length < 2 ? <p class="dim after">Choose two attempts to see them side by side.</p> : null}
			{pair.length === 2 ? <Compared job={job} pair={pair} /> : null}
		</>
	);
}

type RowProps = { run: RunSeen; job: JobDocument; isChosen: boolean; toggle: ((attempt: number) => void) | null };

function Row({ run, job, isChosen, toggle }: RowProps) {
	const isLast = run.attempt === job.attempt;
	return (
		<tr>
			<th scope="row" class="num">
				{job.id}.{run.attempt}
			</th>
			<td>
				<Moment at={run.startedAt} how="clock" />
			</td>
			<td>
				<Took run={run} />
			</td>
			<td>{run.waitedMs === null ? "" : <Span ms={run.waitedMs} />}</td>
			<td>
				{run.worker}
				{run.account ? ` · ${run.account}` : ""}
			</td>
			<td class="num">{run.costMicros ? dollars(run.costMicros) : ""}</td>
			<td class="said">{run.end ?? "runs"}</td>
			<td class="said dim">{run.failure?.split("\n", 1)[0] ?? ""}</td>
			<td>
				<Go to={{ tab: "log", run: isLast ? null : run.attempt }} words="Log" /> {isLast ? <Go to={{ tab: "diff" }} words="Diff" /> : null}
			</td>
			{toggle ? (
				<td>
					<input type="checkbox" aria-label={`Compare attempt ${run.attempt}`} checked={isChosen} onChange={() => toggle(run.attempt)} />
				</td>
			) : null}
		</tr>
	);
}

const Took = ({ run }: { run: RunSeen }) =>
	run.endedAt === null ? <Running since={run.startedAt} /> : <Span ms={run.endedAt - run.startedAt} />;

function Go({ to, words }: { to: { tab: "log" | "diff"; run?: number | null }; words: string }) {
	return (
		<a
			href={addressOf({ ...app.place, ...to })}
			onClick={(event) => {
				if (event.metaKey || event.ctrlKey || event.shiftKey) return;
				event.preventDefault();
				app.go(to);
			}}
		>
			{words}
		</a>
	);
}

function Compared({ job, pair }: { job: JobDocument; pair: RunSeen[] }) {
	return (
		<section class="compared" aria-label="Two attempts">
			{pair.map((run) => (
				<OneSide key={run.attempt} job={job} run={run} />
			))}
		</section>
	);
}

type Outcome = { message?: string; exit_kind?: string; signal?: string | null; outcome?: string; usage?: { tokens?: number } };

function OneSide({ job, run }: { job: JobDocument; run: RunSeen }) {
	const { id } = job;
	const fresh = run.end ?? "runs";
	const { value } = useQuery(`outcome ${id}.${run.attempt}`, () => app.call("job.outcome", { id, run: run.attempt }), fresh);
	const outcome: Outcome = value?.outcome ?? {};
	const tokens = outcome.usage?.tokens ?? run.tokens;
	const pairs: [string, preact.ComponentChildren][] = [
		["Started", <Moment key="at" at={run.startedAt} how="clock" />],
		["Took", <Took key="took" run={run} />],
		["End", run.end ?? "runs"],
		["Signal", outcome.signal ?? ""],
		["Judged", outcome.outcome ? inWords(outcome.outcome) : ""],
		["Cost", run.costMicros ? dollars(run.costMicros) : ""],
		["Tokens", tokens ? count(tokens) : ""],
		["Where", [run.worker, run.account].filter(Boolean).join(" · ")],
		["Failure", run.failure ?? ""],
		["Last words", outcome.message ?? ""],
	];
	return (
		<div class="panel">
			<h2>
				Attempt {run.attempt} {run.attempt === job.attempt ? <Changes id={id} fresh={fresh} /> : null}
			</h2>
			<dl class="pairs">
				{pairs
					.filter(([, value]) => value !== "")
					.map(([name, value]) => (
						<>
							<dt>{name}</dt>
							<dd class="said">{value}</dd>
						</>
					))}
			</dl>
			<h3>Its last lines</h3>
			<LastLines id={id} attempt={run.attempt} fresh={fresh} />
		</div>
	);
}

/** Only the last attempt's changes are kept. */
export function Changes({ id, fresh }: { id: number; fresh: string }) {
	const { value, files, sums } = useDiff(id, fresh);
	if (!value) return null;
	return (
		<span class="num dim">
			{count(files.length)} {files.length === 1 ? "file" : "files"} <span class="plus">+{count(sums.plus)}</span>{" "}
			<span class="minus">−{count(sums.minus)}</span>
		</span>
	);
}
