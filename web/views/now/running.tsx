// What runs and what it is doing: agent, model, tool and last message, turns, tokens, cost, and its time against what is usual.

import type { RunningNow } from "../../../src/api/documents/now.ts";
import { app } from "../../app.ts";
import { JobLink } from "../../parts/bits.tsx";
import { useNews } from "../../parts/hooks.ts";
import { activityOf, lateness, short } from "../../state/now.ts";
import { awaitedWords, commandLine, labelOf } from "../../state/row.ts";
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
	const progress = job.run?.progress ?? null;
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
				<Doing one={one} />
			</td>
			<td class="figure num">{progress?.turns ? count(progress.turns) : ""}</td>
			<td class="figure num">{progress?.tokens ? short(progress.tokens) : ""}</td>
			<td class="figure num">{cost > 0 ? dollars(cost) : ""}</td>
			<td class="figure num">
				<Time one={one} />
			</td>
		</tr>
	);
}

function Doing({ one }: { one: RunningNow }) {
	const { tool, text } = activityOf(one);
	const waits = awaitedWords(one.job.waits_for);
	if (one.job.run?.frozen) return <span class="dim">frozen: it goes on when it is resumed</span>;
	if (waits !== null) return <span class="dim">{waits}</span>;
	return (
		<>
			{tool ? <span class="tool">▸ {tool}</span> : null}
			{text ? (
				<span class="text" title={text}>
					{one.job.agent ? `“${text}”` : text}
				</span>
			) : null}
			{!tool && !text ? <span class="dim">{one.job.agent ? "has said nothing yet" : "has written nothing yet"}</span> : null}
		</>
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
