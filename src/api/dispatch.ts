// JSON-RPC 2.0: turns the text of a request, or of a batch, into the text of the answer. Knows nothing of sockets.

import * as check from "../core/input/check.ts";
import { suggest } from "../core/input/nearest.ts";
import { depthOf, readJson, writeJson } from "../core/text/json-text.ts";
import { type At, demand, type Handler, signedOut } from "./call.ts";
import type { Caller, Context, Tokens } from "./context.ts";
import { isAtLeast, type Method } from "./fields.ts";
import { accountMethods } from "./methods/account.ts";
import { agentMethods } from "./methods/agent.ts";
import { artifactMethods } from "./methods/artifact.ts";
import { auditMethods } from "./methods/audit/audit.ts";
import { batchMethods } from "./methods/batch.ts";
import { budgetMethods } from "./methods/budget.ts";
import { configMethods } from "./methods/config.ts";
import { cronMethods } from "./methods/cron.ts";
import { doctorMethods } from "./methods/doctor.ts";
import { hostMethods } from "./methods/host.ts";
import { jobMethods } from "./methods/job.ts";
import { kernelMethods } from "./methods/kernel.ts";
import { laneMethods } from "./methods/lane.ts";
import { lockMethods } from "./methods/lock.ts";
import { peopleMethods } from "./methods/people/people.ts";
import { recipeMethods } from "./methods/recipe.ts";
import { repoMethods } from "./methods/repo.ts";
import { runMethods } from "./methods/run.ts";
import { schedulerMethods } from "./methods/scheduler.ts";
import { sessionMethods } from "./methods/session.ts";
import { sourceMethods } from "./methods/source.ts";
import { statsMethods } from "./methods/stats.ts";
import { webhookMethods } from "./methods/webhook/deliveries.ts";
import { readBy, readParams } from "./params.ts";
import { isMethod, LIMITS, METHODS, type MethodName, PROTOCOL, RPC_CODES, type RpcResponse } from "./protocol.ts";
import { errorBody, Refusal } from "./refusal.ts";
import { openToRun } from "./run-bounds.ts";
import { forViewer, jobsWithFreeForm } from "./secrets.ts";
import { auditEntry, auditKind } from "./server/audit.ts";
import { identify } from "./server/caller-process.ts";
import type { PageSignIns } from "./server/page-sign-ins.ts";
import type { PeopleBook } from "./server/people-book.ts";

/** One connection, or one HTTP request. `identified`: caller-process.ts. */
export type RpcSession = { caller: Caller; identified?: Promise<void> | undefined };
export type RpcServer = { context: Context; tokens: Tokens; pages: PageSignIns; people: PeopleBook };

/** undefined: no answer is due. */
export async function answerText(rpc: RpcServer, session: RpcSession, text: string): Promise<string | undefined> {
	const answer = await answerTo(rpc, session, text);
	return answer === undefined ? undefined : writeJson(answer);
}

const LONG_REQUEST = 400_000;
const DEEPEST = 200_000;

async function answerTo(rpc: RpcServer, session: RpcSession, text: string): Promise<RpcResponse | RpcResponse[] | undefined> {
	// Nested lists take the parser longest: very deep text is not parsed at all.
	const tooDeep = () => failed(null, RPC_CODES.request, `nested more than ${LIMITS.nesting} deep`, "limit");
	if (text.length > LONG_REQUEST && depthOf(text) > DEEPEST) return tooDeep();
	let message: unknown;
	try {
		message = readJson(text);
	} catch {
		return failed(null, RPC_CODES.parse, "not JSON", "parse");
	}
	if (isTooDeep(message)) return tooDeep();
	if (!Array.isArray(message)) return one(rpc, session, message);
	if (message.length === 0) return failed(null, RPC_CODES.request, "an empty batch", "request");
	if (message.length > LIMITS.batch)
		return failed(null, RPC_CODES.request, `${message.length} requests in a batch, at most ${LIMITS.batch}`, "limit");
	const answers = (await Promise.all(message.map((request) => one(rpc, session, request)))).filter((answer) => answer !== undefined);
	return answers.length === 0 ? undefined : answers;
}

export const failed = (id: RpcResponse["id"], code: number, message: string, word: string): RpcResponse => ({
	jsonrpc: "2.0",
	id,
	error: { code, message, data: { code: word } },
});

/** Without recursion, which deep nesting would break. */
function isTooDeep(value: unknown): boolean {
	let level: unknown[] = [value];
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > LIMITS.nesting) return true;
		const next: unknown[] = [];
		for (const one of level) {
			if (one === null || typeof one !== "object") continue;
			for (const inner of Array.isArray(one) ? one : Object.values(one)) if (inner !== null && typeof inner === "object") next.push(inner);
		}
		level = next;
	}
	return false;
}

type Request = { jsonrpc: unknown; protocol?: unknown; process?: unknown; id?: unknown; method: unknown; params?: unknown };

async function one(rpc: RpcServer, session: RpcSession, message: unknown): Promise<RpcResponse | undefined> {
	if (message === null || typeof message !== "object" || Array.isArray(message))
		return failed(null, RPC_CODES.request, "a request is an object", "request");
	const { jsonrpc, protocol, process, id, method, params } = message as Request;
	const isNotification = !Object.hasOwn(message, "id");
	const known = typeof id === "string" || typeof id === "number" || id === null;
	if (!isNotification && !known) return failed(null, RPC_CODES.request, "id must be text, a number or null", "request");
	const own = known ? (id as RpcResponse["id"]) : null;
	if (jsonrpc !== "2.0") return failed(own, RPC_CODES.request, 'jsonrpc must be "2.0"', "request");
	if (typeof method !== "string") return failed(own, RPC_CODES.request, "method must be text", "request");
	if (params !== undefined && (params === null || typeof params !== "object"))
		return failed(own, RPC_CODES.request, "params must be an object", "request");
	try {
		if (protocol !== undefined && protocol !== PROTOCOL && !ANY_PROTOCOL.includes(method)) throw otherProtocol(rpc.context);
		if (process !== undefined || session.identified !== undefined) await identify(rpc.context, session, process);
		const result = await call(rpc, session, method, params);
		return isNotification ? undefined : { jsonrpc: "2.0", id: own, result };
	} catch (error) {
		const body = errorBody(error, rpc.context.log, method);
		return isNotification ? undefined : { jsonrpc: "2.0", id: own, error: body };
	}
}

/** What a command of any version may ask: which daemon this is, and that it stop. */
const ANY_PROTOCOL: readonly string[] = ["scheduler.version", "scheduler.down", "session.auth"] satisfies MethodName[];

const otherProtocol = ({ version }: Context) =>
	new Refusal(RPC_CODES.conflict, `the daemon is of version ${version}, and this command of another: they do not understand each other`, {
		code: "conflict",
		field: "protocol",
		hint: "sluice down, then the command again: what runs goes on, and the new daemon finds it",
	});

const HANDLERS: { [M in MethodName]: Handler<M> } = {
	...jobMethods,
	...runMethods,
	...schedulerMethods,
	...statsMethods,
	...sessionMethods,
	...laneMethods,
	...accountMethods,
	...agentMethods,
	...budgetMethods,
	...lockMethods,
	...artifactMethods,
	...hostMethods,
	...batchMethods,
	...sourceMethods,
	...recipeMethods,
	...cronMethods,
	...webhookMethods,
	...repoMethods,
	...configMethods,
	...doctorMethods,
	...peopleMethods,
	...auditMethods,
	...kernelMethods,
};

async function call(rpc: RpcServer, session: RpcSession, name: string, params: unknown): Promise<unknown> {
	const { context } = rpc;
	const isHidden = name.startsWith("kernel.") && !context.scheduler.config().kernel.enabled;
	if (!isMethod(name) || isHidden) throw unknownMethod(name, isHidden);
	const method: Method = METHODS[name];
	const caller = callerNow(rpc, session);
	mustBeAllowed(rpc, caller, name);
	if (Array.isArray(params)) throw check.wrong("params", "must be an object with names, not a list");
	// Only the socket's owner may act under another name: as the owner, it could act as any caller anyway.
	const said = caller.channel === "socket" && caller.role === "admin" ? readBy(params) : undefined;
	const at: At & RpcServer = { ...rpc, session, by: said ?? caller.by };
	const answer = await recorded(at, name, params, () => (HANDLERS[name] as Handler<MethodName>)(readParams(method, params) as never, at));
	// The person may have been removed, or got a lesser role, while the call waited.
	if (caller.person) demand(callerNow(rpc, session), method.role, name);
	if (isAtLeast(caller.role, "operator")) return answer;
	const open = caller.job === undefined ? undefined : await openToRun(caller.job, jobsWithFreeForm(answer), context);
	return forViewer(answer, { names: context.config.settings().secrets }, open);
}

/** The caller with the role that counts now: a person's may have changed since the connection was opened. */
function callerNow({ people }: RpcServer, session: RpcSession): Caller {
	const { caller } = session;
	if (caller.person === undefined) return caller;
	const role = people.roleNow(caller);
	if (role === undefined) throw signedOut();
	if (role !== caller.role) session.caller = { ...caller, role };
	return session.caller;
}

/** A person's attempt to do what the role does not allow is written down, too. */
function mustBeAllowed({ context }: RpcServer, caller: Caller, name: MethodName): void {
	try {
		demand(caller, METHODS[name].role, name);
	} catch (error) {
		if (caller.person) context.audit.note({ ...auditEntry(caller, caller.by, name, undefined, { error }), kind: "call" });
		throw error;
	}
}

/** Writes a call that changes something into the record, however it ends. */
async function recorded<T>(at: At, name: MethodName, params: unknown, call: () => Promise<T>): Promise<T> {
	const { caller } = at.session;
	const note = (ended: { answer: unknown } | { error: unknown }) => {
		const kind = auditKind(name, at.acted === true);
		if (kind !== null) at.context.audit.note({ ...auditEntry(caller, at.by, name, params, ended), kind });
	};
	try {
		const answer = await call();
		note({ answer });
		return answer;
	} catch (error) {
		note({ error });
		throw error;
	}
}

function unknownMethod(name: string, isHidden: boolean): Refusal {
	return new Refusal(RPC_CODES.method, `there is no method ${check.shown(name)}`, {
		code: "unknown_method",
		hint: isHidden ? undefined : suggest(name, Object.keys(METHODS), undefined),
	});
}
