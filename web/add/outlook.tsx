// What the daemon would make of the job in the form: when it would start, what such jobs cost, warnings.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Result } from "../../src/api/protocol.ts";
import type { JobInput } from "../../src/core/job.ts";
import { app } from "../app.ts";
import { after } from "../outside.ts";
import { clock, count, dollars, span } from "../state/words.ts";

type Answer = Result<"job.preview">;
export type PreviewState = { told: Answer | null; fault: unknown; isAsking: boolean };

/** What is asked about: the text of a prompt or command changes neither the start nor the cost. */
function asked(input: JobInput): JobInput {
	const { prompt, command: _command, args, title: _title, ...rest } = input;
	if (input.recipe !== undefined) return { ...rest, ...(args === undefined ? {} : { args: "…" }) };
	return { ...rest, ...(input.agent !== undefined || prompt !== undefined ? { prompt: "…" } : { command: ["true"] }) };
}

/** Nothing is asked for a change of a job. Asked a moment after the last change, one call at a time: the answer of an older question is not shown. */
export function usePreview(input: JobInput | null): PreviewState {
	const question = asked(input ?? {});
	const key = JSON.stringify(question);
	const [state, set] = useState<PreviewState>({ told: null, fault: null, isAsking: true });
	const latest = useRef("");
	useEffect(() => {
		latest.current = key;
		if (input === null || (question.prompt !== undefined && question.agent === undefined)) {
			set({ told: null, fault: null, isAsking: false });
			return;
		}
		set((now) => ({ ...now, isAsking: true }));
		const mine = (state: PreviewState) => {
			if (latest.current === key) set(state);
		};
		return after(350, () => {
			app.call("job.preview", question).then(
				(told) => mine({ told, fault: null, isAsking: false }),
				(fault: unknown) => mine({ told: null, fault, isAsking: false }),
			);
		});
	}, [key, input === null]);
	return state;
}

function words({ start, end, stuck, ahead, basis, cost, jobs }: Answer): string {
	const found: string[] = [];
	if (start) {
		const at = Date.parse(start.p50);
		found.push(at <= app.now() + 2000 ? "starts at once" : `starts about ${clock(at)}`);
		if (ahead > 0) found.push(`${count(ahead)} ahead`);
	} else if (stuck) found.push(`waits: ${stuck}`);
	if (start && end && basis) found.push(`takes about ${span(basis.usual.p50_ms)}`);
	if (cost) found.push(`about ${dollars(cost.micro)} (${cost.of}, ${count(cost.jobs)} ${cost.jobs === 1 ? "job" : "jobs"})`);
	if (jobs > 1) found.push(`becomes ${jobs} jobs`);
	return found.join(" · ");
}

export function Outlook({ preview: { told, isAsking } }: { preview: PreviewState }) {
	return (
		<div class="outlook" role="status" aria-busy={isAsking}>
			<p>{told ? words(told) : "\u00a0"}</p>
			{(told?.warnings ?? []).map((text) => (
				<p key={text} class="warning">
					{text}
				</p>
			))}
		</div>
	);
}
