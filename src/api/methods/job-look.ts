// job.show, list, why, history, graph, logs, wait: looking without touching.

import { SluiceError } from "../../core/errors.ts";
import { graphDocument, graphText } from "../../core/graph-text.ts";
import { isTerminal } from "../../core/job.ts";
import type { JobView } from "../../scheduler.ts";
import { type At, doc, type Handlers, news, resolve, shown, shownAll } from "../call.ts";
import type { LogPiece } from "../context.ts";
import { eventDocument, reasonDocument } from "../documents.ts";
import type { WaitedJob } from "../protocol/job.ts";
import { LIMITS, type Params } from "../protocol.ts";

/** How often a log that is followed is looked at: files tell nobody that they have grown. */
const LOG_LOOK_MS = 150;

type Looks = "job.show" | "job.list" | "job.why" | "job.history" | "job.graph" | "job.logs" | "job.wait";

export const JOB_LOOKS: Pick<Handlers<"job">, Looks> = {
	"job.show": async ({ id }, { context }) => doc({ job: shown(context, await context.scheduler.show(await resolve(context, id))) }),

	"job.list": async (filter, { context }) => doc({ jobs: shownAll(context, await context.scheduler.list(filter as object)) }),

	"job.why": async ({ id }, { context }) => {
		const { job, reasons, position, priority } = await context.scheduler.why(await resolve(context, id));
		return doc({ job: shown(context, job), reasons: reasons.map(reasonDocument), position, priority });
	},

	"job.history": async ({ id }, { context }) =>
		doc({ events: (await context.scheduler.history(await resolve(context, id))).map(eventDocument) }),

	"job.graph": async ({ job, all, batch, format = "json", max_depth = 3 }, { context }) => {
		const graph = await context.scheduler.graph({
			max_depth,
			all: all === true,
			...(job === undefined ? {} : { job: await resolve(context, job) }),
			...(batch === undefined ? {} : { batch }),
		});
		return doc(format === "json" ? graphDocument(graph) : { format, text: graphText(graph, format, max_depth) });
	},

	"job.logs": async (params, at) => doc(await logs(params, at)),

	"job.wait": async (params, at) => {
		const ids = await Promise.all(params.ids.map((ref) => resolve(at.context, ref)));
		return doc(await waitFor([...new Set(ids)], params.timeout_ms ?? LIMITS.wait_ms, at));
	},
};

async function logs({ id, run, stream = "stdout", offset, limit, wait_ms = 0 }: Params<"job.logs">, at: At): Promise<LogPiece> {
	const { supervisor, scheduler, clock } = at.context;
	const job = await resolve(at.context, id);
	const { status } = await scheduler.show(job);
	const until = clock.monotonic() + wait_ms;
	const options = {
		stream,
		...(run === undefined ? {} : { attempt: run }),
		...(offset === undefined ? {} : { offset }),
		...(limit === undefined ? {} : { limit }),
	};
	for (let waiting = !isTerminal(status); ; ) {
		const piece = supervisor.logs(job, options);
		if (piece && (piece.text !== "" || piece.ended)) return piece;
		if (!waiting || clock.monotonic() >= until) return piece ?? noRun(job, run, stream, wait_ms > 0 && waiting);
		await pause(at, Math.min(LOG_LOOK_MS, until - clock.monotonic()));
		waiting = piece !== null || !isTerminal((await scheduler.show(job)).status);
	}
}

const pause = ({ context }: At, ms: number) => new Promise<void>((resolve) => context.host.after(ms, resolve, "hold"));

/** Whoever was ready to wait asks again; the others are told. */
function noRun(job: number, run: number | undefined, stream: LogPiece["stream"], patient: boolean): LogPiece {
	if (patient) return { run: null, stream, offset: 0, next_offset: 0, text: "", eof: true, ended: false };
	throw new SluiceError(
		"not_found",
		run === undefined ? `job ${job} has no log: it has not run here` : `there is no log of run ${job}.${run}`,
		{
			field: run === undefined ? "id" : "run",
			hint: "why tells what it waits for, history what has happened to it",
		},
	);
}

async function waitFor(ids: number[], ms: number, { context }: At): Promise<{ jobs: WaitedJob[]; done: boolean }> {
	const { scheduler, clock } = context;
	const until = clock.monotonic() + ms;
	const seen = new Map<number, JobView>();
	let open = ids;
	for (;;) {
		const waiting = new Set(open);
		const left = Math.max(0, until - clock.monotonic());
		// Listening begins before looking: an end in between is not missed. Passes without events tell of other processes' commits, perhaps.
		const heard = news(
			context,
			left,
			({ events }) => events.length === 0 || events.some(({ job, kind }) => kind === "ended" && waiting.has(job ?? 0)),
		);
		try {
			for (const view of await Promise.all(open.map((id) => scheduler.show(id)))) seen.set(view.id, view);
			open = open.filter((id) => !isTerminal((seen.get(id) as JobView).status));
			if (open.length === 0 || clock.monotonic() >= until) break;
			await heard.happened;
		} finally {
			heard.over();
		}
	}
	const jobs = ids.map((id) => {
		const { status, exit_code, exit_kind } = seen.get(id) as JobView;
		return { id, status, exit_code: exit_code ?? null, exit_kind: exit_kind ?? null };
	});
	return { jobs, done: open.length === 0 };
}
