// One job: its head, what needs a person, and the tabs about it. It opens at what its state calls for.

import type { JobDocument } from "../../../src/api/documents.ts";
import { isTerminal } from "../../../src/core/job.ts";
import { app } from "../../app.ts";
import { approve, reject } from "../../parts/actions.ts";
import { AnswerBox } from "../../parts/answer-box.tsx";
import { Loading, Problem } from "../../parts/bits.tsx";
import { DoingNow, Told } from "../../parts/doing.tsx";
import { useNews, useQuery } from "../../parts/hooks.ts";
import { addressOf, TABS, type Tab } from "../../state/route.ts";
import { Attempts } from "./attempts.tsx";
import { Diff } from "./diff.tsx";
import { Does, Head } from "./head.tsx";
import { LogView } from "./log.tsx";
import { Overview } from "./overview.tsx";
import { Details, History } from "./past.tsx";

const NAMES: Record<Tab, string> = { why: "Overview", log: "Log", runs: "Attempts", diff: "Diff", history: "History", details: "Details" };

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
	const fresh = `${row?.seq} ${row?.status}`;
	return (
		<>
			<Head told={why.value} />
			<Does job={job} />
			<DoingNow job={job} />
			<ForYou job={job} />
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
				{tab === "why" ? <Overview told={why.value} fresh={fresh} /> : null}
				{tab === "log" ? <LogView key={id} job={job} /> : null}
				{tab === "runs" ? <Attempts job={job} fresh={`${row?.seq}`} /> : null}
				{tab === "diff" ? <Diff key={id} job={job} fresh={`${row?.status}`} /> : null}
				{tab === "history" ? <History id={id} fresh={`${row?.seq}`} /> : null}
				{tab === "details" ? <Details job={job} /> : null}
			</section>
		</>
	);
}

/** What a person has to say: an answer or an approval. Besides, what the last run was not allowed, and a question in its last words. */
function ForYou({ job }: { job: JobDocument }) {
	const waits = !isTerminal(job.status) && job.status !== "running";
	const isAsking = waits && job.question !== null;
	return (
		<>
			{isAsking ? (
				<section class="for-you needs" aria-label="It asks">
					<h2>It asks</h2>
					<p class="question">{job.question}</p>
					{app.mayAct ? <AnswerBox key={job.id} job={job} /> : null}
				</section>
			) : null}
			{waits && job.approval === "needed" ? (
				<section class="for-you needs" aria-label="It wants your approval">
					<h2>It wants your approval to run this</h2>
					{app.mayAct ? (
						<p class="acts">
							<button type="button" class="main" onClick={() => approve(job.id)}>
								Approve
							</button>
							<button type="button" onClick={() => reject(job.id)}>
								Reject…
							</button>
							{job.repo ? (
								<button type="button" onClick={() => app.go({ tab: "diff" })}>
									Diff
								</button>
							) : null}
						</p>
					) : null}
				</section>
			) : null}
			{(job.denied ?? []).length > 0 && !isAsking ? <p class="question">Its last run was not allowed: {job.denied.join("; ")}</p> : null}
			{job.closing_question ? <p class="question">Its last words ask: {job.closing_question}</p> : null}
		</>
	);
}
