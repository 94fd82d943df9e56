// What a method gets beside its parameters, and answers that several methods share.

import type { JobView } from "../contracts/scheduler.ts";
import type { Caller, Context } from "./context.ts";
import { type Doc, type JobDocument, jobDocument, type Showing } from "./documents.ts";
import { isAtLeast, type Method, type Role } from "./fields.ts";
import { METHODS, type MethodName, type Params, type Ref, type Result, RPC_CODES, SCHEMA_VERSION } from "./protocol.ts";
import { Refusal } from "./refusal.ts";

/** `caller` may change during a connection. `by`: the acting person or program, for the record. `acted`: set by `demandToAct`. */
export type At = { context: Context; session: { caller: Caller }; by: string; acted?: boolean };
export type Handler<M extends MethodName> = (params: Params<M>, at: At) => Promise<Result<M>>;
/** Exactly the methods of these nouns. */
export type Handlers<Noun extends string> = { [M in Extract<MethodName, `${Noun}.${string}`>]: Handler<M> };

export const doc = <T extends object>(content: T): Doc<T> => ({ schema_version: SCHEMA_VERSION, ...content });

export function demand(caller: Caller, role: Role, method: string): void {
	if (isAtLeast(caller.role, role)) return;
	if (caller.found) throw foundInside(caller.found, method);
	if (caller.person) throw notForPerson(caller.person.name, caller.role, role, method);
	throw new Refusal(
		RPC_CODES.role,
		caller.role === "run" ? `${method} is not allowed inside a job` : `${method} is not allowed with a ${caller.role}'s token`,
		{ code: "unauthorised", hint: caller.role === "run" ? "jobs may add, read and wait" : `it takes the ${role}'s token` },
	);
}

const notForPerson = (name: string, has: Role, needs: Role, method: string): Refusal =>
	new Refusal(RPC_CODES.role, `${method} is not for the role ${has}, which ${name} has`, {
		code: "unauthorised",
		hint: `it takes the role ${needs}: an admin can give it with sluice people role ${name} ${needs}`,
	});

/** The refusal for a person who was removed, or whose session has ended. */
export const signedOut = (): Refusal =>
	new Refusal(RPC_CODES.role, "you are signed out: this person was removed, or the session has ended", {
		code: "unauthorised",
		hint: "an admin makes a new link with sluice people link NAME",
	});

/** For a call that acts, of a method with which a lesser role may read. */
export function demandToAct(at: At, method: MethodName): void {
	const { role, acts = role }: Method = METHODS[method];
	demand(at.session.caller, acts, method);
	at.acted = true;
}

/** The refusal for a program that sent no token, and may not know that it is part of a run. */
function foundInside({ run, job, state }: NonNullable<Caller["found"]>, method: string): Refusal {
	const [message, hint] =
		state === "live"
			? [
					`${method} is not allowed inside a job: this program was started by run ${run} of job ${job}, though SLUICE_TOKEN is missing from its environment`,
					"jobs may add, read and wait; type anything else in a shell that no run has started",
				]
			: [
					`${method} is not allowed here: this program was started by run ${run}, which is over`,
					"what a run leaves behind may only read; type this in a shell that no run has started",
				];
	return new Refusal(RPC_CODES.role, message, { code: "unauthorised", hint });
}

export const resolve = async (context: Context, ref: Ref): Promise<number> => (typeof ref === "number" ? ref : context.scheduler.find(ref));

/** The numbers of these jobs, each once. */
export const resolveAll = async (refs: readonly Ref[], { context }: Pick<At, "context">): Promise<number[]> => [
	...new Set(await Promise.all(refs.map((ref) => resolve(context, ref)))),
];

export const shown = (context: Context, view: JobView): JobDocument => jobDocument(view, showing(context, [view]));

/** Copies the configuration once for many documents. */
export function shownAll(context: Context, views: readonly JobView[]): JobDocument[] {
	const how = showing(context, views);
	return views.map((view) => jobDocument(view, how));
}

function showing({ scheduler, config, supervisor }: Context, views: readonly JobView[]): Showing {
	const live = views.some((view) => view.run) ? supervisor.live() : [];
	return { config: scheduler.config(), mask: { names: config.settings().secrets }, live: new Map(live.map((one) => [one.run, one])) };
}

/** A job with only the fields that the caller asked for. */
export const only = (job: JobDocument, fields: readonly string[]): JobDocument =>
	Object.fromEntries(Object.entries(job).filter(([key]) => fields.includes(key))) as JobDocument;
