// What happens to hosts beyond single calls: processes that die, are overtaken by a second one of their home, or find their name taken.

import { SluiceError } from "../src/core/errors.ts";
import type { Call } from "./call.ts";
import type { Drive } from "./drive.ts";
import { agree } from "./model/agree.ts";
import { lookOf } from "./model/hosts.ts";
import type { State } from "./model/state.ts";
import type { FleetOp, Op, Plan } from "./operation.ts";
import { chosen } from "./random.ts";
import type { Engine } from "./world.ts";

type Doing = Op & { kind: "die" | "overtake" | "usurp" };
export const isDoing = (op: Op): op is Doing => op.kind === "die" || op.kind === "overtake" || op.kind === "usurp";

export async function playFleet(drive: Drive, op: Doing, via: number): Promise<void> {
	const { world, marks } = drive;
	if (op.kind === "die") {
		world.kill(via);
		marks.hit("host:died");
	} else if (op.kind === "overtake") await overtake(drive, op, via);
	else await usurp(drive, via);
}

/** Of two processes of one home the later one has the name; the earlier one is told so. */
async function overtake(drive: Drive, op: Doing & { kind: "overtake" }, via: number): Promise<void> {
	const older = await drive.engine(via);
	await drive.open(via);
	const error = await refusalOf(() => speak(older, op.what));
	agree(error?.code === "fenced", `${op.what} of a process of ${older.host} that was overtaken: ${error?.message ?? "accepted"}`);
	drive.marks.hit(`host:overtaken:${op.what}`);
	await older.scheduler.close();
}

function speak({ scheduler, host }: Engine, what: "heartbeat" | "claim" | "leave"): Promise<unknown> {
	if (what === "heartbeat") return scheduler.heartbeat();
	return what === "leave" ? scheduler.leave() : scheduler.claim({ worker: "older", host, max: 10 });
}

/** The name is held as long as its host is not gone, however silent it is. */
async function usurp(drive: Drive, via: number): Promise<void> {
	const host = drive.state.hosts.find(({ name }) => name === drive.plan.hosts[via]?.name);
	if (host === undefined || host.gone !== undefined) return;
	const error = await refusalOf(() => drive.world.openAs(via, drive.state.config, "another-home"));
	agree(error?.code === "conflict", `another home wants the name ${host.name}: ${error?.message ?? "it has it"}`);
	drive.marks.hit(`host:held:${lookOf(host, drive.state.now)}`);
}

async function refusalOf(call: () => Promise<unknown>): Promise<SluiceError | undefined> {
	try {
		await call();
		return undefined;
	} catch (error) {
		if (error instanceof SluiceError) return error;
		throw error;
	}
}

/** The call that a fleet's operation means now. */
export function resolveFleet(op: FleetOp, state: State, hosts: Plan["hosts"]): Call | undefined {
	const nameOf = (index: number) => hosts[index]?.name ?? "nobody";
	switch (op.kind) {
		case "drain":
			return { method: "drain", args: [nameOf(op.host), op.stop ? { stop: true } : {}] };
		case "undrain":
			return { method: "undrain", args: [nameOf(op.host)] };
		case "remove":
			return { method: "removeHost", args: [nameOf(op.host)] };
		case "leave":
			return { method: "leave", args: [] };
		case "late": {
			const lost = state.past.filter((run) => run.lost_with !== undefined);
			const run = chosen(lost, op.pick, ({ job, token }) => `${job}/${token}`);
			if (run === undefined) return undefined;
			const at = { job: run.job, token: run.token };
			return op.what === "complete"
				? { method: "complete", args: [{ ...at, exit_kind: "completed", exit_code: 0 }] }
				: { method: op.what, args: [at] };
		}
		default:
			return undefined;
	}
}

const FLEET_KINDS: Op["kind"][] = ["drain", "undrain", "remove", "leave", "late"];
export const isFleetOp = (op: Op): op is Op & FleetOp => FLEET_KINDS.includes(op.kind);
