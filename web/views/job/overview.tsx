// What a job's state calls for: why it waits, what it does, how it failed, what it has made; beside it what surrounds it.

import { useState } from "preact/hooks";
import type { JobDocument } from "../../../src/api/documents.ts";
import type { Result } from "../../../src/api/protocol.ts";
import { isTerminal, mergeWords } from "../../../src/core/job.ts";
import { app } from "../../app.ts";
import { rerun, retry } from "../../parts/actions.ts";
import { JobLink, Moment } from "../../parts/bits.tsx";
import { RemedyButton } from "../../parts/remedies.tsx";
import { labelOf } from "../../state/row.ts";
import { count, inWords, localTimes, moment, span } from "../../state/words.ts";
import { ActivityPanel } from "./activity.tsx";
import { Around } from "./around.tsx";
import { Changes } from "./attempts.tsx";
import { Tail } from "./tail.tsx";

type WhyAnswer = Result<"job.why">;
/** A job can wait for a thousand others. */
const SHOWN = 50;

export function Overview({ told, fresh }: { told: WhyAnswer; fresh: string }) {
	const { job, position, priority: sum, eta } = told;
	const ended = isTerminal(job.status);
	const waits = !ended && job.status !== "running";
	// What a person has to say is at the head of the page, so the forecast need not name it again.
	const isForYou = waits && (job.question !== null || job.approval === "needed");
	return (
		<div class="overview">
			<div class="main">
				{job.status === "running" ? job.agent ? <ActivityPanel key={job.attempt} job={job} /> : <Tail job={job} /> : null}
				{job.status === "failed" ? <Tail job={job} /> : null}
				<Course told={told} />
				{job.status === "succeeded" && job.repo ? <Made job={job} fresh={fresh} /> : null}
			</div>
			<div class="side">
				{eta && (eta.end !== null || !isForYou) ? <Expected eta={eta} isRunning={job.status === "running"} /> : null}
				<Around job={job} fresh={fresh} />
				{waits ? <Priority sum={sum} position={position} /> : null}
			</div>
		</div>
	);
}

/** Why it waits, or how it ended. */
function Course({ told: { job, reasons, waiters = [], results = [], warning } }: { told: WhyAnswer }) {
	const [all, showAll] = useState(false);
	const some = all ? reasons : reasons.slice(0, SHOWN);
	const ended = isTerminal(job.status);
	const row = { id: job.id, label: labelOf(job), status: job.status };
	return (
		<section class="panel">
			<h2>{ended ? "How it ended" : job.status === "running" ? "Its run" : "Why it waits"}</h2>
			{ended || job.status === "running" ? <Ended job={job} /> : null}
			<ol class="reasons">
				{some.map((reason) => (
					<OneReason key={`${reason.gate} ${reason.subject} ${reason.detail}`} reason={reason} job={job} />
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
			{reasons.length === 0 && !ended && job.status !== "running" ? <p>Nothing: it is about to start.</p> : null}
			{app.mayAct && ended && job.status !== "succeeded" && job.kind !== "kernel" ? (
				<p class="acts after">
					<button type="button" class="small" onClick={() => retry(row)}>
						Try it again
					</button>
					<button type="button" class="small" onClick={() => rerun(job.id)}>
						Alone
					</button>
					{job.attempt > 0 ? (
						<button type="button" class="small" onClick={() => app.go({ tab: "log", run: null })}>
							See its log
						</button>
					) : null}
				</p>
			) : null}
		</section>
	);
}

function OneReason({ reason, job }: { reason: WhyAnswer["reasons"][number]; job: JobDocument }) {
	const { detail, subject, code, holder, since, clears_at, remedy = null } = reason;
	// Approvals and answers have their place at the head of the page.
	const isAbove = remedy?.act === "approve" || remedy?.act === "answer";
	return (
		<li>
			<span class="chip">{inWords(code)}</span>
			<span>
				{remedy?.act === "answer" ? "its question, above" : <ReasonText detail={detail} subject={subject} own={job.id} />}
				<span class="dim">
					{holder && holder.length > 0 ? ` · held by ${holder.slice(0, 10).join(", ")}` : ""}
					{since ? (
						<>
							{" "}
							· since <Moment at={Date.parse(since)} />
						</>
					) : null}
					{clears_at ? (
						<>
							{" "}
							· clears <Moment at={Date.parse(clears_at)} />
						</>
					) : null}
				</span>{" "}
				{isAbove ? null : <RemedyButton remedy={remedy} detail={detail} ids={[job.id]} />}
			</span>
		</li>
	);
}

/** What it has changed, and what became of that. */
function Made({ job, fresh }: { job: JobDocument; fresh: string }) {
	return (
		<section class="panel" aria-label="Changes">
			<h2>
				What it has changed <Changes id={job.id} fresh={fresh} />
			</h2>
			<p>
				{mergeWords(job) === ""
					? "It is not merged: its repo or the job says so."
					: [mergeWords(job), job.merge_report?.message].filter(Boolean).join(": ")}
			</p>
			<p class="acts after">
				<button type="button" class="small" onClick={() => app.go({ tab: "diff" })}>
					Review the diff
				</button>
			</p>
		</section>
	);
}

function Priority({ sum, position }: { sum: WhyAnswer["priority"]; position: number | null }) {
	return (
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
function Results({ results }: { results: WhyAnswer["results"] }) {
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

function Expected({ eta: { start, end, basis, stuck }, isRunning }: { eta: NonNullable<WhyAnswer["eta"]>; isRunning: boolean }) {
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
