// Why a job waits or how it ended, how its priority adds up, when it is expected, and what it depends on.

import { useState } from "preact/hooks";
import type { JobDocument } from "../../../src/api/documents.ts";
import type { Result } from "../../../src/api/protocol.ts";
import { isTerminal, mergeWords } from "../../../src/core/job.ts";
import { app } from "../../app.ts";
import { JobLink, Moment } from "../../parts/bits.tsx";
import { count, inWords, localTimes, moment, span } from "../../state/words.ts";
import { Tail } from "./tail.tsx";

type Told = Result<"job.why">;
/** A job can wait for a thousand others. */
const SHOWN = 50;

export function Why({ told: { job, reasons, position, priority: sum, waiters = [], results = [], eta, warning } }: { told: Told }) {
	const [all, showAll] = useState(false);
	const some = all ? reasons : reasons.slice(0, SHOWN);
	return (
		<div class="panels">
			<section class="panel wide">
				<h2>{isTerminal(job.status) ? "How it ended" : job.status === "running" ? "It runs" : "Why it waits"}</h2>
				{isTerminal(job.status) || job.status === "running" ? <Ended job={job} /> : null}
				<ol class="reasons">
					{some.map((reason) => (
						<li key={`${reason.gate} ${reason.subject} ${reason.detail}`}>
							<span class="chip">{inWords(reason.code)}</span>
							<span>
								<ReasonText detail={reason.detail} subject={reason.subject} own={job.id} />
								<span class="dim">
									{reason.holder && reason.holder.length > 0 ? ` · held by ${reason.holder.slice(0, 10).join(", ")}` : ""}
									{reason.since ? (
										<>
											{" "}
											· since <Moment at={Date.parse(reason.since)} />
										</>
									) : null}
									{reason.clears_at ? (
										<>
											{" "}
											· clears <Moment at={Date.parse(reason.clears_at)} />
										</>
									) : null}
								</span>
							</span>
						</li>
					))}
				</ol>
				<Awaited job={job} waiters={waiters} />
				<Results results={results} />
				{warning ? <p class="dim">{warning}</p> : null}
				{reasons.length > some.length ? (
					<button type="button" class="small" onClick={() => showAll(true)}>
						Show all {count(reasons.length)} reasons
					</button>
				) : null}
				{reasons.length === 0 && !isTerminal(job.status) && job.status !== "running" ? <p>Nothing: it is about to start.</p> : null}
			</section>
			{job.status === "running" || job.status === "failed" ? <Tail job={job} /> : null}
			<section class="panel">
				<h2>
					Priority <span class="num">{count(sum.total)}</span>
				</h2>
				<table class="plain">
					<tbody>
						{sum.terms.map(({ name, value }) => (
							<tr key={name}>
								<th scope="row">{inWords(name)}</th>
								<td class="num right">{value > 0 ? `+${count(value)}` : count(value)}</td>
							</tr>
						))}
					</tbody>
				</table>
				{position !== null ? <p class="dim">Number {count(position)} of its lane's ready jobs.</p> : null}
			</section>
			{eta ? <Expected eta={eta} isRunning={job.status === "running"} /> : null}
			<Around job={job} />
		</div>
	);
}

/** A run that waits for other jobs, and runs that wait for this one. */
function Awaited({ job: { waits_for = [], run }, waiters }: { job: JobDocument; waiters: readonly number[] }) {
	const links = (ids: readonly number[]) =>
		ids.slice(0, SHOWN).map((id) => (
			<JobLink key={id} id={id}>
				{" "}
				job <span class="num">{id}</span>
			</JobLink>
		));
	return (
		<>
			{run?.frozen ? <p>It is frozen: it goes on when what was paused is resumed.</p> : null}
			{waits_for.length > 0 ? <p>It waits for{links(waits_for)} and lends its slot meanwhile.</p> : null}
			{waiters.length > 0 ? <p>Awaited by{links(waiters)}, whose slots are lent until it has ended.</p> : null}
		</>
	);
}

/** The jobs whose results its prompt uses. */
function Results({ results }: { results: Told["results"] }) {
	return (
		<>
			{results.slice(0, SHOWN).map(({ job, name, status, has_result }) => (
				<p key={job}>
					Its prompt takes the result of <JobLink id={job}>job {name ?? job}</JobLink>:{" "}
					{has_result ? "there." : isTerminal(status) ? "it left none, and the prompt says so." : "not there yet."}
				</p>
			))}
		</>
	);
}

function ReasonText({ detail, subject, own }: { detail: string; subject: string; own: number }) {
	const other = /^job:(\d+)$/.exec(subject)?.[1];
	return other && Number(other) !== own ? <JobLink id={Number(other)}>{localTimes(detail)}</JobLink> : <span>{localTimes(detail)}</span>;
}

function Ended({ job }: { job: JobDocument }) {
	return (
		<dl class="pairs">
			{job.exit_kind ? (
				<>
					<dt>Exit</dt>
					<dd>
						{inWords(job.exit_kind)}
						{job.exit_code !== null ? ` (${job.exit_code})` : ""}
					</dd>
				</>
			) : null}
			{job.end_reason ? (
				<>
					<dt>Reason</dt>
					<dd>{job.end_reason}</dd>
				</>
			) : null}
			{job.verdict ? (
				<>
					<dt>It said</dt>
					<dd class="said">
						{job.verdict.verdict}
						{job.verdict.text === "" ? "" : `: ${job.verdict.text}`}
					</dd>
				</>
			) : null}
			{job.result !== null && job.result !== undefined ? (
				<>
					<dt>Result</dt>
					<dd class="said">{typeof job.result === "string" ? job.result : JSON.stringify(job.result)}</dd>
				</>
			) : null}
			{job.last_failure && job.last_failure !== job.end_reason ? (
				<>
					<dt>Last failure</dt>
					<dd class="said">{job.last_failure}</dd>
				</>
			) : null}
			{job.started_at ? (
				<>
					<dt>Waited</dt>
					<dd>{span(Math.max(0, Date.parse(job.started_at) - Date.parse(job.ready_at ?? job.created_at)))}</dd>
				</>
			) : null}
			{mergeWords(job) !== "" ? (
				<>
					<dt>Merge</dt>
					<dd class="said">{[mergeWords(job), job.merge_report?.message].filter(Boolean).join(": ")}</dd>
				</>
			) : null}
			<dt>Attempt</dt>
			<dd>{job.attempt}</dd>
		</dl>
	);
}

/** The 50 % and 90 % values of a forecast. */
function Between({ range }: { range: { p50: string; p90: string } }) {
	const [half, most] = [moment(Date.parse(range.p50), app.now()), moment(Date.parse(range.p90), app.now())];
	return (
		<span class="num">
			{half}
			{most === half ? "" : ` – ${most}`}
		</span>
	);
}

function Expected({ eta: { start, end, basis, stuck }, isRunning }: { eta: NonNullable<Told["eta"]>; isRunning: boolean }) {
	return (
		<section class="panel" aria-label="Expected">
			<h2>
				Expected{" "}
				<span class="dim">
					{basis
						? `based on ${count(basis.runs)} ${basis.runs === 1 ? "run" : "runs"} ${basis.of.startsWith("recipe") ? "of" : "in"} ${basis.of}`
						: ""}
				</span>
			</h2>
			{end === null ? (
				<p class="dim">No time can be told{stuck === null ? "." : `: ${stuck}`}</p>
			) : (
				<dl class="pairs">
					{start && !isRunning ? (
						<>
							<dt>Starts</dt>
							<dd>
								<Between range={start} />
							</dd>
						</>
					) : null}
					<dt>Ends</dt>
					<dd>
						<Between range={end} />
					</dd>
				</dl>
			)}
		</section>
	);
}

function Around({ job }: { job: JobDocument }) {
	if (job.after.length === 0 && job.locks.length === 0 && job.parent === null) return null;
	return (
		<section class="panel">
			<h2>Depends on</h2>
			<ul class="list">
				{job.after.slice(0, 100).map(({ job: id, policy }) => (
					<li key={id}>
						<JobLink id={id}>
							<span class="num">{id}</span> {app.jobs.rows.get(id)?.label ?? ""}
						</JobLink>
						<span class="dim">{policy}</span>
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
		</section>
	);
}
