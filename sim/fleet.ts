// What happens to hosts beyond single calls: processes that die, are overtaken by a second one of their home, or find their name taken.

import { SluiceError } from "../src/core/errors.ts";
import type { Drive } from "./drive.ts";
import type { Call } from "./engine/call.ts";
import type { Engine } from "./engine/world.ts";
import { agree, agreeSame } from "./model/agree.ts";
import { join, lookOf, runsOf } from "./model/hosts.ts";
import type { ModelHost, State } from "./model/state.ts";
import type { FleetOp, Op, Plan } from "./operation.ts";
import { chosen } from "./random.ts";
import { poison, stand } from "./standing.ts";

type Doing = Op & { kind: "die" | "overtake" | "usurp" | "stand" | "poison" };
const DOING: readonly Op["kind"][] = ["die", "overtake", "usurp", "stand", "poison"];
export const isDoing = (op: Op): op is Doing => DOING.includes(op.kind);

export async function playFleet(drive: Drive, op: Doing, via: number): Promise<void> {
	const { world, marks } = drive;
	if (op.kind === "die") {
		world.kill(via);
		marks.hit("host:died");
	} else if (op.kind === "overtake") await overtake(drive, op, via);
	else if (op.kind === "stand") await stand(drive, op, via);
	else if (op.kind === "poison") await poison(drive, op);
	else await usurp(drive, op, via);
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
async function usurp(drive: Drive, op: Doing & { kind: "usurp" }, via: number): Promise<void> {
	const { state, world } = drive;
	const host = state.hosts.find(({ name }) => name === drive.plan.hosts[via]?.name);
	if (host === undefined || host.gone !== undefined) return;
	if (op.who === "renamed") return rename(drive, host, via);
	if (op.who === "library") return visit(drive, via);
	const error = await refusalOf(() => world.openAs(via, state.config, { home: "another-home" }));
	agree(error?.code === "conflict", `another home wants the name ${host.name}: ${error?.message ?? "it has it"}`);
	drive.marks.hit(`host:held:${lookOf(host, state.now)}`);
}

/** A home may have another name when nothing runs under the old one. */
async function rename(drive: Drive, host: ModelHost, via: number): Promise<void> {
	const { state, world, marks } = drive;
	const joining = { name: `${host.name}-renamed`, labels: host.labels, repos: drive.plan.hosts[via]?.repos ?? null, home: host.home ?? "" };
	const open = () => world.openAs(via, state.config, { name: joining.name, home: joining.home });
	if (runsOf(state, host.name).length > 0) {
		const error = await refusalOf(open);
		agree(error?.code === "conflict", `a home whose host ${host.name} has runs wants another name: ${error?.message ?? "it has it"}`);
		marks.hit("host:not-renamed");
		return;
	}
	world.kill(via);
	const { scheduler } = await open();
	join(state, joining);
	marks.hit("host:renamed");
	await scheduler.close();
}

/** A process of the library that goes by the name of a host is none: nothing that it says of itself counts. */
async function visit(drive: Drive, via: number): Promise<void> {
	const { scheduler } = await drive.world.openAs(via, drive.state.config, {});
	await scheduler.heartbeat();
	agree(!(await scheduler.leave()).left, "a process without a home left in the name of a host");
	await scheduler.close();
	drive.marks.hit("host:visited");
}

/** What a daemon that is started again would find as its own; and what only one of them has to do is done by one. */
export async function checkFleet(drive: Drive): Promise<void> {
	for (const engine of drive.world.engines) {
		if (engine === undefined) continue;
		const mine = runsOf(drive.state, engine.host).map((job) => `${job.id}/${job.run?.token}`);
		const assigned = (await engine.scheduler.assigned()).map(({ job, run }) => `${job.id}/${run.token}`);
		agreeSame(assigned, mine, `runs of host ${engine.host}`);
	}
	await checkLeader(drive);
}

async function checkLeader(drive: Drive): Promise<void> {
	const leaders: string[] = [];
	const { engines } = drive.world;
	for (const engine of engines) if (engine !== undefined && (await engine.scheduler.leads())) leaders.push(engine.host);
	const { hosts, now } = drive.state;
	const isThere = (name: string) => engines.some((engine) => engine?.host === name);
	const present = hosts.filter((host) => ["live", "draining"].includes(lookOf(host, now)));
	agree(leaders.length <= 1, `several lead: ${leaders.join(", ")}`);
	// One that has just died leads until somebody notices.
	if (drive.world.place.bury || present.length === 0 || !present.every(({ name }) => isThere(name))) return;
	agree(leaders.length === 1, `nobody leads, of ${present.map(({ name }) => name).join(", ")}`);
	drive.marks.hit("host:leads");
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
		case "offer":
			return { method: "offer", args: [op.repos] };
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

const FLEET_KINDS: Op["kind"][] = ["drain", "undrain", "remove", "leave", "offer", "late"];
export const isFleetOp = (op: Op): op is Op & FleetOp => FLEET_KINDS.includes(op.kind);
