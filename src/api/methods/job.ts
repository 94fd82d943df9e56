// Methods of jobs: adding, acting, and claims of outside workers. Reading is in job/read.ts, worktrees and merges in job/worktree.ts.

import type { OfItems } from "../../contracts/adding.ts";
import type { Claimed, HoldReport, Manifest, RewindReport, RunEnd } from "../../contracts/scheduler.ts";
import { type Granted, grantProblem, widest } from "../../core/agents/permissions/allowing.ts";
import { callsOf } from "../../core/agents/permissions/denied.ts";
import { SluiceError } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import type { JobInput } from "../../core/job.ts";
import type { RunBounds } from "../../core/trust/run-bounds.ts";
import { type At, doc, type Handlers, resolve, resolveAll, shown } from "../call.ts";
import type { Startable } from "../context.ts";
import { type Doc, endedDocument, reasonDocument, rfc3339, runDocument } from "../documents.ts";
import type { Ref } from "../fields.ts";
import type { AddDocument, ClaimedDocument, OneJob } from "../protocol/job.ts";
import { boundsOf, placedIn, refuseForeignCapture, refuseOutside } from "../run-bounds.ts";
import { mustHaveBase, refuseLongPrompts, startProblems, warned } from "./job/adding.ts";
import { editMethods } from "./job/edit.ts";
import { frozenMethods } from "./job/freeze.ts";
import { preview } from "./job/preview.ts";
import { jobReads } from "./job/read.ts";
import { selectMethods } from "./job/select.ts";
import { tellMethods } from "./job/tell.ts";
import { worktreeMethods } from "./job/worktree.ts";

/** Acts on one job, and returns it afterwards. */
const acted = async (ref: Ref, { context }: At, act: (id: number) => Promise<unknown>): Promise<OneJob> => {
	const id = await resolve(context, ref);
	await act(id);
	return doc({ job: shown(context, await context.scheduler.show(id)) });
};

type Several = { id?: Ref | undefined; ids?: readonly Ref[] | undefined };

/** The jobs that a call names, as one or as several. */
async function severalOf({ id, ids = [] }: Several, at: Pick<At, "context">): Promise<number[]> {
	const refs = [...(id === undefined ? [] : [id]), ...ids];
	if (refs.length === 0) throw new SluiceError("invalid", "id: is missing", { field: "id", hint: "name the job, or several as ids" });
	return resolveAll(refs, at);
}

/** Acts on each of several jobs, and returns the first. For a single job a refusal is the caller's error; for one of several it is part of the answer. */
async function actedEach(
	params: Several,
	at: At,
	order: "in order" | "last first",
	act: (id: number) => Promise<unknown>,
): Promise<OneJob & HoldReport> {
	const { context } = at;
	const jobs = await severalOf(params, at);
	const refused: HoldReport["refused"] = [];
	for (const job of order === "in order" ? jobs : [...jobs].reverse()) {
		try {
			await act(job);
		} catch (error) {
			if (!(error instanceof SluiceError) || jobs.length === 1) throw error;
			refused.push({ job, code: error.code, message: error.message });
		}
	}
	const done = jobs.filter((id) => !refused.some(({ job }) => job === id));
	const first = done[0] ?? jobs[0];
	if (first === undefined) throw new SluiceError("invalid", "ids: is empty", { field: "ids" });
	return doc({ job: shown(context, await context.scheduler.show(first)), done, refused });
}

async function captured({ cwd, input_patch }: JobInput, bounds: RunBounds | undefined, at: At): Promise<string> {
	const refuse = (why: string) => new SluiceError("invalid", `capture_diff: ${why}`, { field: "capture_diff" });
	if (input_patch !== undefined) throw refuse("contradicts input_patch");
	if (typeof cwd !== "string" || !cwd.startsWith("/")) throw refuse("needs the whole path of a folder as cwd");
	await refuseForeignCapture(cwd, bounds, at);
	return at.context.work.capture(cwd, bounds === undefined ? "any" : "registered");
}

/** The checks of `add` that the scheduler does not do itself; returns its warnings. */
async function checkToAdd(jobs: readonly JobInput[], at: At): Promise<string[]> {
	refuseLongPrompts(jobs, at);
	if (jobs[0]) await mustHaveBase(jobs[0], at);
	return startProblems(jobs, at);
}

async function rewound(how: "retry" | "rerun", { id }: { id: Ref }, { context, by }: At): Promise<Doc<RewindReport>> {
	await context.work.lookForBusy();
	return doc(await context.scheduler[how](await resolve(context, id), { by }));
}

export const jobMethods: Handlers<"job"> = {
	...jobReads,
	...editMethods,
	...frozenMethods,
	...selectMethods,
	...worktreeMethods,
	"job.preview": ({ by: _by, ...input }, at) => preview(input, at, (jobs) => checkToAdd(jobs, at)),
	...tellMethods,

	"job.add": async ({ force, capture_diff, by: _by, ...given }, at) => {
		const { context, by } = at;
		const bounds = await boundsOf(at, force);
		await refuseOutside([{ at: "", input: given }], bounds);
		const options = { by, force: force === true, ...(bounds ? { within: bounds } : {}) };
		const input = capture_diff ? { ...given, input_patch: await captured(given, bounds, at) } : given;
		const {
			jobs,
			flows,
			warnings: said,
		} = input.recipe === undefined && input.item === undefined
			? { jobs: [input], flows: null, warnings: [] }
			: await context.intake.expand(input);
		const [first = input, ...rest] = jobs;
		refuseLongPrompts([first, ...rest], at);
		if (!options.force) await mustHaveBase(first, at);
		if (rest.length > 0)
			return addAll([first, ...rest], { ...options, ...(flows ? { items: { flows, limit: "as_configured" } } : {}) }, said, at);
		const adding = context.scheduler.add(first, { ...options, ...(flows ? { items: { flows, limit: "always" } } : {}) });
		context.supervisor.claimAlong?.();
		const result = await adding;
		if (result.outcome !== "queued") return doc(result) as AddDocument;
		const warnings = [...said, ...(result.warning === undefined ? [] : [result.warning]), ...startProblems([first], at)];
		return doc({ ...result, job: shown(context, result.job), ...warned(warnings) }) as AddDocument;
	},
	"job.sling": async ({ by: _by, ...input }, at) => {
		const { job: parent } = at.session.caller;
		const given = { ...input, ...(parent === undefined ? {} : { parent }) };
		const within = await boundsOf(at, input.force);
		await refuseOutside([{ at: "", input: input.cwd === undefined ? {} : { cwd: input.cwd } }], within);
		const { added, ...slung } = await at.context.intake.sling(given, { by: at.by, within });
		const problems = startProblems(added, at);
		return doc({ ...slung, warnings: [...slung.warnings, ...problems], dry_run: input.dry_run === true });
	},
	"job.apply": async ({ manifest: written, check, force, update, again, env }, at) => {
		const { scheduler } = at.context;
		const within = await boundsOf(at, force);
		const { manifest, flows, warnings: said } = await withRecipes(written, at);
		await refuseOutside(placedIn(manifest), within);
		refuseLongPrompts(
			(Array.isArray(manifest.jobs) ? manifest.jobs : []).map((job) => ({ ...manifest.defaults, ...job })),
			at,
		);
		const flags = { force: force === true, check: check === true, update: update === true, again: again === true };
		const items = flows.length > 0 ? { flows, limit: "never" as const } : undefined;
		const result = await scheduler.apply(manifest, { by: at.by, ...flags, ...given({ items, within, env }) });
		const startable = manifest.jobs.map((job) => withDefaults(job, manifest.defaults));
		const { updated = [], not_named = [], refusal = null, warnings = [], ...rest } = result;
		return doc({ ...rest, updated, not_named, refusal, ...warned([...said, ...warnings, ...startProblems(startable, at)]) });
	},

	"job.cancel": async ({ id, ids, subtree, reason }, { context, by }) => {
		const jobs = await severalOf({ id, ids }, { context });
		// For a single job a refusal is the caller's error; for one of several it is part of the answer.
		return doc(await context.scheduler.cancelAll(jobs, { by, subtree: subtree === true, ...given({ reason }) }));
	},
	"job.retry": async (params, at) => {
		const jobs = await severalOf(params, at);
		const [first] = jobs;
		if (jobs.length === 1 && first !== undefined) return rewound("retry", { id: first }, at);
		await at.context.work.lookForBusy();
		return doc({ last_successful: [], left_blocked: [], ...(await at.context.scheduler.retryAll(jobs, { by: at.by })) });
	},
	"job.rerun": (params, at) => rewound("rerun", params, at),
	// The last one that is promoted stands first.
	"job.promote": (params, at) => actedEach(params, at, "last first", (job) => at.context.scheduler.promote(job, { by: at.by })),
	"job.demote": (params, at) => actedEach(params, at, "in order", (job) => at.context.scheduler.demote(job, { by: at.by })),
	"job.priority": ({ id, priority }, at) => acted(id, at, (job) => at.context.scheduler.priority(job, priority, { by: at.by })),
	"job.run_now": async ({ id, force }, at) => {
		const { job, schema_version } = await acted(id, at, (one) => at.context.scheduler.runNow(one, { by: at.by, force: force === true }));
		const { reasons } = await at.context.scheduler.why(job.id);
		return { schema_version, job, reasons: reasons.filter(({ code }) => code !== "turn").map(reasonDocument) };
	},
	"job.hold": async ({ ids, reason }, at) =>
		doc(await at.context.scheduler.hold(await resolveAll(ids, at), { by: at.by, ...given({ reason }) })),
	"job.release": async ({ ids }, at) => doc(await at.context.scheduler.release(await resolveAll(ids, at), { by: at.by })),
	"job.approve": (params, at) => actedEach(params, at, "in order", (job) => at.context.scheduler.approve(job, { by: at.by })),
	"job.reject": ({ id, reason }, at) =>
		acted(id, at, (job) => at.context.scheduler.reject(job, { by: at.by, ...(reason === undefined ? {} : { reason }) })),
	"job.answer": ({ id, text, permission }, at) =>
		acted(id, at, async (job) => {
			if (text === undefined && permission === undefined)
				throw new SluiceError("invalid", "text: is missing", { field: "text", hint: "give an answer, a permission, or both" });
			const grant = permission === undefined ? undefined : await grantFor(job, permission, at);
			await at.context.scheduler.answer(job, text ?? GO_ON, { by: at.by, ...(grant === undefined ? {} : { grant }) });
		}),

	"job.claim": async ({ worker, max, lanes }, at) => {
		const claimed = await at.context.scheduler.claim({ worker, kinds: ["payload"], ...given({ max, lanes }) });
		return doc({ claimed: await Promise.all(claimed.map((one) => claimedDocument(one, at))) });
	},
	"job.complete": async ({ job, by: _by, ...rest }, { context }) =>
		doc(endedDocument(await context.scheduler.complete({ ...rest, job: await resolve(context, job) } as RunEnd))),
	"job.extend": async ({ job, token }, { context }) => {
		const { cancel_requested, lease_until } = await context.scheduler.extend({ job: await resolve(context, job), token });
		return doc({ cancel_requested, lease_until: lease_until === null ? null : rfc3339(lease_until) });
	},
};

const GO_ON = "You may do that now. Go on.";

/** What a permission grants to a job that waits for an answer. Throws if its agent's program has no way to allow it. */
async function grantFor(job: number, permission: "edit" | "full" | "asked", { context }: At): Promise<Granted> {
	const { agent, spec, granted, denied = [], kind, question } = await context.scheduler.show(job);
	// The answer itself will be refused because there is no question.
	if (question === undefined) return {};
	if (agent === undefined)
		throw new SluiceError("invalid", `permission: job ${job} is a ${kind}, and only an agent has a permission`, { field: "permission" });
	const now = { permission: widest(spec.permission ?? "edit", granted?.permission), denied };
	const problem = grantProblem(permission, { name: agent, profile: context.agents.profile(agent) }, now);
	if (problem !== null) throw new SluiceError("invalid", `permission: ${problem.message}`, { field: "permission", hint: problem.hint });
	return permission === "asked" ? { allow: [...callsOf(denied)] } : { permission };
}

/** A job with its own command or agent takes neither from the defaults. */
function withDefaults(job: JobInput, defaults: JobInput = {}): Startable {
	const { agent: _agent, command: _command, ...rest } = defaults;
	const isOwn = job.agent !== undefined || job.command !== undefined;
	return { ...(isOwn ? rest : defaults), ...job, env: { ...defaults.env, ...job.env } };
}

/** Jobs of a manifest may name an item of a source, or a recipe that makes a single job. `flows`: the lanes that the items ask for. */
async function withRecipes(manifest: Manifest, { context }: At): Promise<{ manifest: Manifest; flows: string[]; warnings: string[] }> {
	const { recipe, ...defaults } = manifest.defaults ?? {};
	const recipeOf = (job: JobInput | null): unknown => job?.recipe ?? recipe;
	const itemOf = (job: JobInput | null): unknown => job?.item ?? defaults.item;
	const plain = (job: JobInput | null) => typeof recipeOf(job) !== "string" && typeof itemOf(job) !== "string";
	if (!Array.isArray(manifest.jobs) || manifest.jobs.every(plain)) return { manifest, flows: [], warnings: [] };
	const jobs: JobInput[] = [];
	const flows: string[] = [];
	const warnings = new Set<string>();
	for (const [index, job] of manifest.jobs.entries()) {
		if (plain(job)) {
			jobs.push(job);
			continue;
		}
		const whole = { ...manifest.defaults, ...job };
		const byRecipe = whole.recipe !== undefined;
		const { item, source } = whole;
		const made = await context.intake.expand(byRecipe ? whole : given({ item, source }));
		flows.push(...(made.flows ?? []));
		for (const warning of made.warnings) warnings.add(warning);
		const [only = {}, ...more] = made.jobs;
		if (more.length > 0)
			throw new SluiceError("invalid", `jobs[${index}].recipe: ${whole.recipe} makes ${more.length + 1} jobs`, {
				field: `jobs[${index}].recipe`,
				hint: "sling it, or add it with --recipe",
			});
		// What the manifest says of one job or of all of them takes precedence over the item.
		jobs.push(byRecipe ? only : { ...without(only, Object.keys(defaults)), ...job, ...pick(only, ["item", "source"]) });
	}
	return { manifest: { ...manifest, ...(manifest.defaults ? { defaults } : {}), jobs }, flows, warnings: [...warnings] };
}

const pick = (job: JobInput, keys: readonly string[]): JobInput =>
	Object.fromEntries(Object.entries(job).filter(([key]) => keys.includes(key)));
const without = (job: JobInput, keys: readonly string[]): JobInput =>
	Object.fromEntries(Object.entries(job).filter(([key]) => !keys.includes(key)));

/** Adds the steps of a recipe, all or none; returns the first. */
async function addAll(
	jobs: JobInput[],
	options: { by: string; force: boolean; items?: OfItems; within?: RunBounds },
	said: readonly string[],
	at: At,
): Promise<AddDocument> {
	const { scheduler } = at.context;
	const { jobs: ids, skipped, deferred, warnings = [] } = await scheduler.apply({ jobs }, options);
	const [first] = ids;
	if (first === undefined) {
		if (deferred) return doc({ outcome: "deferred" as const, ...deferred }) as AddDocument;
		const holder = skipped[0]?.job ?? 0;
		return doc({ outcome: "already_running" as const, job: holder, holder });
	}
	const problems = [...warnings, ...startProblems(jobs, at)];
	return doc({
		outcome: "queued" as const,
		job: shown(at.context, await scheduler.show(first)),
		position: null,
		jobs: ids,
		...warned([...said, ...problems]),
	});
}

/** The worker that runs a job gets its spec without masks. */
async function claimedDocument({ job, spec, run }: Claimed, { context }: At): Promise<ClaimedDocument> {
	const view = await context.scheduler.show(job.id);
	return { job: shown(context, view), spec, run: { ...runDocument(job.id, run), token: run.token } };
}
