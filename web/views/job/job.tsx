// One job: why it waits, how its priority adds up, its log, its runs, its changes, its events, and possible actions.

import type { JobDocument } from "../../../src/api/documents.ts";
import { isTerminal, mergeWords } from "../../../src/core/job.ts";
import { app } from "../../app.ts";
import { answer, approve, cancel, demote, dropMerge, merge, priority, promote, reject, rerun, retry, runNow } from "../../parts/actions.ts";
import { Loading, Moment, Problem, Running, Span, StatusChip } from "../../parts/bits.tsx";
import { DoingNow, Told } from "../../parts/doing.tsx";
import { useNews, useQuery } from "../../parts/hooks.ts";
import { addressOf, TABS, type Tab } from "../../state/route.ts";
import { awaitedWords, commandLine, labelOf, mergeTrouble } from "../../state/row.ts";
import { dollars } from "../../state/words.ts";
import { LogView } from "./log.tsx";
import { Details, Diff, History, Runs } from "./past.tsx";
import { Why } from "./why.tsx";

const NAMES: Record<Tab, string> = { why: "Why", log: "Log", runs: "Runs", diff: "Diff", history: "History", details: "Details" };

export function JobView({ id }: { id: number }) {
	useNews("jobs", "place", "status");
	const row = app.jobs.rows.get(id);
	const why = useQuery(`why ${id}`, () => app.call("job.why", { id }), `${row?.seq} ${row?.status} ${app.revision}`);
	if (!why.value)
		return why.problem ? (
			<div class="panel">
				<Problem text={why.problem} again={why.again} />
				<p>
					<button type="button" onClick={() => app.go({ job: null })}>
						Back
					</button>
				</p>
			</div>
		) : (
			<Loading what={`job ${id}`} />
		);
	const { job } = why.value;
	const { tab } = app.place;
	return (
		<>
			<Head job={job} />
			<Does job={job} />
			<DoingNow job={job} />
			<Told job={job} />
			<div class="tabs" role="tablist" aria-label="About this job">
				{TABS.map((one) => (
					<a
						key={one}
						role="tab"
						href={addressOf({ ...app.place, tab: one })}
						aria-selected={tab === one}
						tabIndex={0}
						onClick={(event) => {
							event.preventDefault();
							app.go({ tab: one }, "replace");
						}}
					>
						{NAMES[one]}
					</a>
				))}
			</div>
			<section class={`tab ${tab}`} role="tabpanel" aria-label={NAMES[tab]}>
				{tab === "why" ? <Why told={why.value} /> : null}
				{tab === "log" ? <LogView key={id} job={job} /> : null}
				{tab === "runs" ? <Runs id={id} fresh={`${row?.seq}`} /> : null}
				{tab === "diff" ? <Diff id={id} fresh={`${row?.status}`} live={job.status === "running" ? "live" : "still"} /> : null}
				{tab === "history" ? <History id={id} fresh={`${row?.seq}`} /> : null}
				{tab === "details" ? <Details job={job} /> : null}
			</section>
		</>
	);
}

/** What it is to do: the prompt in full, or the command. */
function Does({ job: { prompt, command } }: { job: JobDocument }) {
	const text = prompt ?? (command ? commandLine(command) : null);
	if (text === null) return null;
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys
		<pre class="does" title={prompt === null ? "Command" : "Prompt"} tabIndex={0}>
			{text}
		</pre>
	);
}

function Head({ job }: { job: JobDocument }) {
	const ended = isTerminal(job.status);
	const waits = !ended && job.status !== "running";
	const row = { id: job.id, label: labelOf(job), status: job.status };
	const cost = (job as { usage?: Record<string, number> }).usage?.cost_micro;
	return (
		<div class="jobhead">
			<p class="back">
				<button type="button" class="link" onClick={() => app.go({ job: null })}>
					← Back
				</button>
			</p>
			<h1>
				<span class="id num">{job.id}</span> {row.label}
			</h1>
			<p class="facts">
				<StatusChip status={job.status} />
				<span class="chip lane">{job.lane}</span>
				{job.repo ? <span class="chip">{job.repo}</span> : null}
				{job.batch ? <span class="chip">{job.batch}</span> : null}
				{job.agent ? <span class="chip">{job.agent}</span> : null}
				<span class="dim">
					{job.status === "running" && job.started_at ? (
						<>
							runs for <Running since={Date.parse(job.started_at)} />
						</>
					) : ended && job.ended_at ? (
						<>
							ended <Moment at={Date.parse(job.ended_at)} />
							{job.started_at ? (
								<>
									{" "}
									after <Span ms={Date.parse(job.ended_at) - Date.parse(job.started_at)} />
								</>
							) : null}
						</>
					) : (
						<>
							added <Moment at={Date.parse(job.created_at)} />
						</>
					)}
				</span>
				{job.run?.frozen ? <span class="chip">frozen</span> : null}
				{awaitedWords(job.waits_for) ? <span class="dim">{awaitedWords(job.waits_for)}</span> : null}
				{cost ? <span class="num">{dollars(cost)}</span> : null}
				{job.merge_status && job.merge_status !== "none" ? (
					<span class="chip">{job.merge_status === "merged" ? mergeWords(job) : `merge ${mergeWords(job)}`}</span>
				) : null}
			</p>
			{app.mayAct ? (
				<div class="acts">
					{waits && job.approval === "needed" ? (
						<>
							<button type="button" class="main" onClick={() => approve(job.id)}>
								Approve
							</button>
							<button type="button" onClick={() => reject(job.id)}>
								Reject…
							</button>
						</>
					) : null}
					{waits && job.question !== null ? (
						<button type="button" class="main" onClick={() => answer(job)}>
							Answer…
						</button>
					) : null}
					{waits ? (
						<>
							<button type="button" onClick={() => runNow(job.id)}>
								Run next
							</button>
							<button type="button" onClick={() => promote(job.id)}>
								To the front
							</button>
							<button type="button" onClick={() => demote(job.id)}>
								To the end
							</button>
							<button type="button" onClick={() => priority(job.id, job.priority)}>
								Priority…
							</button>
						</>
					) : null}
					{mergeTrouble(job) !== null ? (
						<>
							<button type="button" class="main" onClick={() => merge(job.id)}>
								Merge again
							</button>
							<button type="button" onClick={() => dropMerge(job.id)}>
								Give up the merge…
							</button>
						</>
					) : null}
					{ended && job.kind === "kernel" ? null : ended ? (
						<>
							<button type="button" onClick={() => retry(row)}>
								Retry…
							</button>
							<button type="button" onClick={() => rerun(job.id)}>
								Run again alone…
							</button>
						</>
					) : (
						<button type="button" onClick={() => cancel(row)}>
							Cancel…
						</button>
					)}
				</div>
			) : null}
			{waits && job.question !== null ? <p class="question">{job.question}</p> : null}
			{(job.denied ?? []).length > 0 && (!waits || job.question === null) ? (
				<p class="question">Its last run was not allowed: {job.denied.join("; ")}</p>
			) : null}
			{job.closing_question ? <p class="question">Its last words ask: {job.closing_question}</p> : null}
		</div>
	);
}
