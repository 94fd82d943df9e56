// The home: what needs a person, what runs and what it is doing, what is next, what is stuck and why, what has just ended. One answer of the daemon.

import { useEffect, useState } from "preact/hooks";
import type { NowDocument, NowJob } from "../../../src/api/documents/now.ts";
import { app } from "../../app.ts";
import { every } from "../../outside.ts";
import { retry } from "../../parts/actions.ts";
import { JobLink, Loading, Moment, Problem, StatusDot } from "../../parts/bits.tsx";
import { useNews, useQuery } from "../../parts/hooks.ts";
import { aboutEnd, isOwnTurn } from "../../state/now.ts";
import { labelOf } from "../../state/row.ts";
import { clock, count, dollars, fromNow, inWords } from "../../state/words.ts";
import { First } from "../first.tsx";
import { Needs } from "./needs.tsx";
import { Running } from "./running.tsx";
import { Stuck } from "./stuck.tsx";

/** What runs do is told as it happens; money and forecast, which time alone changes, are asked for this often while the page is in sight. */
const REFRESH_MS = 30_000;

export function NowView() {
	useNews("jobs", "status", "place", "link");
	const [beat, setBeat] = useState(0);
	useEffect(() => every(REFRESH_MS, () => document.hidden || setBeat((n) => n + 1)), []);
	const { value, problem, again } = useQuery("now", () => app.call("scheduler.now", {}), `${app.revision} ${beat}`);
	if (!value) {
		const why = problem ?? app.link.problem;
		return why === null ? <Loading what="what runs" /> : <Problem text={why} again={again} />;
	}
	if (Object.values(value.counts).every((n) => n === 0)) return <First />;
	return (
		<div class={`now ${app.place.wall ? "wall" : ""}`}>
			<h1 class="unseen">Now</h1>
			<Strip now={value} />
			<Needs needs={value.needs_you} />
			<Running running={value.running} total={value.counts.running} />
			<div class="beside-each-other">
				<Next now={value} />
				<Stuck causes={value.causes} counts={value.counts} />
			</div>
			<JustEnded now={value} />
		</div>
	);
}

function Strip({ now }: { now: NowDocument }) {
	const { status } = app;
	const needs = now.needs_you.length;
	const stuck = now.causes.filter((cause) => !isOwnTurn(cause)).sort((a, b) => b.jobs - a.jobs);
	const jobs = stuck.reduce((sum, cause) => sum + cause.jobs, 0);
	return (
		<ul class="strip" aria-label="At a glance">
			<li class={needs > 0 ? "asks" : ""}>
				<b class="num">{count(needs)}</b> {needs === 1 ? "needs you" : "need you"}
			</li>
			<li>
				<b class="num">{count(now.counts.running - (status?.lending ?? 0))}</b>
				{status && status.max_concurrent > 0 ? ` of ${count(status.max_concurrent)}` : ""} running
			</li>
			<li class={jobs > 0 ? "stuck" : ""}>
				<b class="num">{count(jobs)}</b> stuck
				{jobs > 0 ? (
					<span class="dim">
						{": "}
						{stuck
							.slice(0, 3)
							.map((cause) => `${count(cause.jobs)} ${cause.kind === "budget" ? "budget" : inWords(cause.subject.replace(":", " "))}`)
							.join(" · ")}
					</span>
				) : null}
			</li>
			<Money money={now.money} />
			<Done now={now} />
		</ul>
	);
}

function Money({ money: { today_micro, hour_micro, budgets, complete } }: Pick<NowDocument, "money">) {
	const [tight] = budgets;
	const isOver = tight?.limit != null && tight.used >= tight.limit;
	return (
		<li
			class={isOver ? "stuck" : ""}
			title={complete ? "jobs that ended since midnight, and runs that go on" : "at least: there are too many jobs to add up"}
		>
			<b class="num">{dollars(today_micro)}</b> today <span class="dim num">· {dollars(hour_micro)}/h</span>
			{tight?.limit != null ? (
				<span class="dim num">
					{" "}
					· {tight.subject.replace(":", " ")} {dollars(tight.used)} of {dollars(tight.limit)}
				</span>
			) : null}
		</li>
	);
}

function Done({ now: { done, counts } }: { now: NowDocument }) {
	useNews("clock");
	const open = counts.running + counts.queued + counts.waiting_on_deps + counts.waiting_on_locks;
	if (open === 0) return <li>all done</li>;
	if (done.end === null)
		return (
			<li class="dim" title={done.note ?? ""}>
				end unknown{done.stuck > 0 ? `: ${count(done.stuck)} wait for something` : ""}
			</li>
		);
	const [half, most] = [Date.parse(done.end.p50), Date.parse(done.end.p90)];
	return (
		<li
			title={`${fromNow(half, app.now())}; in nine of ten simulations by ${clock(most)}${done.stuck > 0 ? `; without ${count(done.stuck)} jobs that wait for something` : ""}`}
		>
			done <b class="num">~{clock(half)}</b> <span class="dim num">(90 %: {clock(most)})</span>
		</li>
	);
}

function Next({ now }: { now: NowDocument }) {
	const next = now.next.filter(({ cause }) => cause === null || now.causes[cause]?.kind === "capacity");
	return (
		<section class="block next" aria-label="Next">
			<h2>
				Next <span class="dim">in order</span>
			</h2>
			{next.length === 0 ? <p class="nothing">nothing is ready to start</p> : null}
			<ol>
				{next.map(({ job, cause, start }, index) => {
					const why = cause === null ? undefined : now.causes[cause];
					return (
						<li key={job.id}>
							<span class="place num dim">{index + 1}</span>
							<JobLink id={job.id} class="title" card>
								<span class="id num">{job.id}</span> {labelOf(job)}
							</JobLink>
							<span class="dim num">
								{start
									? `starts ~${clock(Date.parse(start.p50))}`
									: why === undefined
										? "starts now"
										: why.subject === "all"
											? "waits for a slot"
											: ""}
								{why && why.subject !== "all" ? `${start ? " · " : ""}${why.detail}` : ""}
							</span>
						</li>
					);
				})}
			</ol>
		</section>
	);
}

function JustEnded({ now: { failed, ended } }: { now: NowDocument }) {
	if (failed.length + ended.length === 0) return null;
	return (
		<section class="block ended" aria-label="Just ended">
			<h2>
				Just ended <span class="dim">failures of the last day first</span>
			</h2>
			<ul>
				{[...failed, ...ended].slice(0, 14).map((job) => (
					<Ended key={job.id} job={job} />
				))}
			</ul>
		</section>
	);
}

function Ended({ job }: { job: NowJob }) {
	const isBad = job.status !== "succeeded" && job.status !== "cancelled";
	return (
		<li class={isBad ? "bad" : ""}>
			<StatusDot status={job.status} />
			<JobLink id={job.id} class="title" card>
				<span class="id num">{job.id}</span> {labelOf(job)}
			</JobLink>
			<span class="what" title={aboutEnd(job)}>
				{aboutEnd(job)}
			</span>
			<span class="dim">{job.ended_at ? <Moment at={Date.parse(job.ended_at)} /> : null}</span>
			{app.mayAct && !app.place.wall ? (
				<span class="acts">
					<button type="button" class="small" onClick={() => app.go({ job: job.id, tab: "log" })}>
						Log
					</button>
					{isBad ? (
						<button type="button" class="small" onClick={() => retry({ id: job.id, label: labelOf(job) })}>
							Retry…
						</button>
					) : null}
				</span>
			) : null}
		</li>
	);
}
