// What runs and what it is doing: agent, model, tool and last message, turns, tokens, cost, changed lines, and its time against what is usual.

import type { RunningNow } from "../../../src/api/documents/now.ts";
import { app } from "../../app.ts";
import { JobLink } from "../../parts/bits.tsx";
import { Doing } from "../../parts/doing.tsx";
import { useNews } from "../../parts/hooks.ts";
import { lateness, latestProgress, linesWords, short } from "../../state/now.ts";
import { commandLine, labelOf } from "../../state/row.ts";
import { count, dollars, elapsed } from "../../state/words.ts";

export function Running({ running, total }: { running: RunningNow[]; total: number }) {
	return (
		<section class="block running" aria-label="Running">
			<h2>
				Running <span class="dim">longest first</span>
			</h2>
			{running.length === 0 ? <p class="nothing">nothing runs</p> : <Table running={running} />}
			{total > running.length ? <p class="dim">and {count(total - running.length)} more</p> : null}
		</section>
	);
}

const Table = ({ running }: { running: RunningNow[] }) => (
	<table class="runs">
		<thead>
			<tr>
				<th scope="col">Job</th>
				<th scope="col">By</th>
				<th scope="col">Doing</th>
				<th scope="col" class="figure">
					Turns
				</th>
				<th scope="col" class="figure">
					Tokens
				</th>
				<th scope="col" class="figure">
					Cost
				</th>
				<th scope="col" class="figure">
					Lines
				</th>
				<th scope="col" class="figure">
					Time / usual
				</th>
			</tr>
		</thead>
		<tbody>
			{running.map((one) => (
				<Row key={one.job.id} one={one} />
			))}
		</tbody>
	</table>
);

function Row({ one }: { one: RunningNow }) {
	const { job } = one;
	useNews("progress");
	const progress = latestProgress(app.jobs.progress.get(job.id), job.run);
	const cost = (job.usage.cost_micro ?? 0) + (progress?.cost_micro ?? 0);
	const by = job.agent ? [job.agent, job.model].filter(Boolean).join(" ") : (job.command?.[0]?.split("/").at(-1) ?? "");
	return (
		<tr>
			<th scope="row">
				<JobLink id={job.id} class="title" card>
					<span class="id num">{job.id}</span> {labelOf(job)}
				</JobLink>
			</th>
			<td class="by" title={job.command ? commandLine(job.command) : undefined}>
				{by}
				{job.attempt > 1 ? <span class="dim"> · attempt {job.attempt}</span> : null}
			</td>
			<td class="doing">
				<Doing job={job} progress={progress} />
			</td>
			<td class="figure num">{progress?.turns ? count(progress.turns) : ""}</td>
			<td class="figure num">{progress?.tokens ? short(progress.tokens) : ""}</td>
			<td class="figure num">{cost > 0 ? dollars(cost) : ""}</td>
			<td class="figure num">{progress ? linesWords(progress) : ""}</td>
			<td class="figure num">
				<Time one={one} />
			</td>
		</tr>
	);
}

function Time({ one: { job, usual } }: { one: RunningNow }) {
	useNews("clock");
	const took = job.started_at ? app.now() - Date.parse(job.started_at) : 0;
	const isLate = lateness(took, usual) === "late";
	return (
		<>
			<span class={isLate ? "late" : ""}>{elapsed(took)}</span>
			<span class="dim">{usual ? ` / ${usual.p50_ms < 1000 ? "< 1 s" : elapsed(usual.p50_ms)}` : ""}</span>
			{isLate ? <span class="chip late">late</span> : null}
		</>
	);
}
