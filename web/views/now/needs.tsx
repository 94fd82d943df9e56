// What needs a person: the question in full with its answer in place, the command or prompt to approve, a merge that is stuck.

import type { NeedsYou } from "../../../src/api/documents/now.ts";
import { app } from "../../app.ts";
import { approve, dropMerge, merge, reject } from "../../parts/actions.ts";
import { AnswerBox } from "../../parts/answer-box.tsx";
import { JobLink, Moment } from "../../parts/bits.tsx";
import { commandLine, labelOf } from "../../state/row.ts";
import { count } from "../../state/words.ts";

const WORDS = { answer: "asks", approval: "wants your approval", merge: "cannot be merged" };

export function Needs({ needs }: { needs: NeedsYou[] }) {
	if (needs.length === 0) return null;
	return (
		<section class="block needs" aria-label="Needs you">
			<h2>
				Needs you <span class="dim">oldest first</span>
			</h2>
			<ul>
				{needs.map((need) => (
					<One key={need.job.id} need={need} />
				))}
			</ul>
		</section>
	);
}

function One({ need }: { need: NeedsYou }) {
	const { job, asks, text, since, waiting } = need;
	const isActing = app.mayAct && !app.place.wall;
	return (
		<li>
			<p class="head">
				<JobLink id={job.id} class="title" card>
					<span class="id num">{job.id}</span> {labelOf(job)}
				</JobLink>
				<span class="asks">{WORDS[asks]}</span>
				<span class="dim">
					{[job.agent, job.repo, job.lane].filter(Boolean).join(" · ")} · <Moment at={Date.parse(since)} />
				</span>
				{waiting > 0 ? (
					<span class="waiting num">
						{count(waiting)}
						{waiting >= 200 ? "+" : ""} {waiting === 1 ? "job waits" : "jobs wait"}
					</span>
				) : null}
			</p>
			{asks === "approval" ? <ToApprove need={need} /> : text ? <p class="question">{text}</p> : null}
			{isActing ? <Act need={need} /> : null}
		</li>
	);
}

/** What would run, so that a person does not approve it unseen. */
function ToApprove({ need: { job } }: { need: NeedsYou }) {
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys
		<pre class="does" tabIndex={0}>
			{job.prompt ?? (job.command ? commandLine(job.command) : "a job for a worker, without a command")}
		</pre>
	);
}

function Act({ need: { job, asks } }: { need: NeedsYou }) {
	if (asks === "answer") return <AnswerBox job={job} />;
	if (asks === "merge")
		return (
			<p class="acts">
				<button type="button" class="main" onClick={() => merge(job.id)}>
					Merge again
				</button>
				<button type="button" onClick={() => dropMerge(job.id)}>
					Give up the merge…
				</button>
				<button type="button" onClick={() => app.go({ job: job.id, tab: "diff" })}>
					Diff
				</button>
			</p>
		);
	return (
		<p class="acts">
			<button type="button" class="main" onClick={() => approve(job.id)}>
				Approve
			</button>
			<button type="button" onClick={() => reject(job.id)}>
				Reject…
			</button>
		</p>
	);
}
