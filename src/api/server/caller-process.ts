// Identifies the process behind a socket connection that sends no token. Node cannot ask the kernel, so our clients send their pid, and the daemon checks
// in the process table whether it belongs to a run: then the caller may do what that run's token allows. This stops accidents, not malice (decision 0130).

import type { CallerProcess } from "../../contracts/processes.ts";
import * as check from "../../core/input/check.ts";
import type { Context } from "../context.ts";
import type { RpcSession } from "../dispatch.ts";
import { stillStarting } from "../refusal.ts";

/** `said`: the member `process` of a call. The first one on a connection counts; all later calls wait until it is checked. */
export async function identify(context: Context, session: RpcSession, said: unknown): Promise<void> {
	if (session.caller.channel !== "socket") return;
	if (said !== undefined) session.identified ??= placed(context, session, readProcess(said));
	try {
		await session.identified;
	} catch (error) {
		// A daemon that has just started does not know its runs yet: the next call tries again.
		session.identified = undefined;
		throw error;
	}
}

async function placed({ supervisor, endpoints, log }: Context, session: RpcSession, process: CallerProcess): Promise<void> {
	const inside = await supervisor.runOfProcess(process).catch((error) => {
		log.warn("the process of a client could not be looked at", { pid: process.pid, error });
		return null;
	});
	if (!inside) return;
	const { run, job, token } = inside;
	if (token === null && !endpoints().ready) throw stillStarting();
	session.caller =
		token === null
			? { role: "viewer", by: `run:${run}`, channel: "socket", found: { run, job, state: "over" } }
			: { role: "run", by: `run:${run}`, channel: "socket", job, token, found: { run, job, state: "live" } };
}

function readProcess(said: unknown): CallerProcess {
	const { pid, start = null } = (typeof said === "object" ? (said ?? {}) : {}) as { pid?: unknown; start?: unknown };
	if (!Number.isSafeInteger(pid) || (pid as number) < 1 || (start !== null && typeof start !== "string"))
		throw check.wrong("process", "must be {pid, start}: a process of this machine, and its start time");
	return { pid: pid as number, start };
}
