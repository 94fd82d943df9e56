// What ready jobs wait for, by cause, with what ends it as a button.

import type { NowDocument } from "../../../src/api/documents/now.ts";
import type { CauseDocument, Remedy } from "../../../src/api/documents/queue.ts";
import { app } from "../../app.ts";
import { clearAccount, clearHold, grantMore, release, resume, setLane, setMax } from "../../parts/actions.ts";
import { Moment } from "../../parts/bits.tsx";
import { isOwnTurn } from "../../state/now.ts";
import { count, localTimes } from "../../state/words.ts";

export function Stuck({ causes, counts }: Pick<NowDocument, "causes" | "counts">) {
	const stuck = causes.filter((cause) => !isOwnTurn(cause)).sort((a, b) => b.jobs - a.jobs);
	const after = counts.waiting_on_deps + counts.waiting_on_locks;
	return (
		<section class="block stuck" aria-label="Stuck by">
			<h2>Stuck by</h2>
			{stuck.length === 0 ? <p class="nothing">nothing is stuck</p> : null}
			<ul>
				{stuck.map((cause) => (
					<li key={`${cause.kind} ${cause.subject} ${cause.detail}`}>
						<span>
							{localTimes(cause.detail)}{" "}
							<span class="dim num">
								({count(cause.jobs)} {cause.jobs === 1 ? "job" : "jobs"})
								{cause.clears_at ? (
									<>
										{" "}
										clears <Moment at={Date.parse(cause.clears_at)} />
									</>
								) : null}
							</span>
						</span>
						{mayRemedy(cause.remedy) && cause.remedy ? <RemedyButton remedy={cause.remedy} cause={cause} /> : null}
					</li>
				))}
			</ul>
			{after > 0 ? (
				<p class="dim num">
					{count(counts.waiting_on_deps)} wait for other jobs
					{counts.waiting_on_locks > 0 ? `, ${count(counts.waiting_on_locks)} for a lock` : ""}
				</p>
			) : null}
		</section>
	);
}

/** Caps and budgets take an admin. */
const mayRemedy = (remedy: Remedy | null): boolean =>
	!app.place.wall && (remedy?.act === "raise" || remedy?.act === "grant" ? app.mayManage : app.mayAct);

function RemedyButton({ remedy, cause }: { remedy: Remedy; cause: CauseDocument }) {
	const [words, act] = remedyOf(remedy, cause);
	return (
		<button type="button" class="small" aria-label={`${words}: ${cause.detail}`} onClick={act}>
			{words}
		</button>
	);
}

function remedyOf({ act, subject }: Remedy, { ids = [] }: CauseDocument): [words: string, act: () => void] {
	const [kind = "", name = ""] = subject.split(/:(.*)/s);
	switch (act) {
		case "resume":
			return ["Resume", () => resume(subject === "all" ? {} : { [kind]: name })];
		case "release":
			return ["Release", () => release(ids)];
		case "raise": {
			const max = subject === "all" ? (app.status?.max_concurrent ?? 0) : (app.status?.lanes[name]?.max ?? 0);
			return [`Raise to ${count(max + 1)}`, () => void (subject === "all" ? setMax(max + 1, max) : setLane(name, max + 1, max))];
		}
		case "open":
			return ["Open…", () => clearAccount(name)];
		case "close_breaker":
			return ["Try again", () => clearHold({ scope: subject, kind: "breaker_open" })];
		case "grant":
			return ["Grant more…", () => void grantMore(subject)];
		case "hosts":
			return ["Hosts", () => app.go({ view: "limits" })];
	}
}
