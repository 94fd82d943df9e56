// What ready jobs wait for, by cause, with what ends it as a button.

import type { NowDocument } from "../../../src/api/documents/now.ts";
import { Moment } from "../../parts/bits.tsx";
import { RemedyButton } from "../../parts/remedies.tsx";
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
						<RemedyButton remedy={cause.remedy} detail={cause.detail} ids={cause.ids ?? []} />
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
