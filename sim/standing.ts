// Claims that stand at the leader, and requests that end each leader which carries them out.

import type { Claimed } from "../src/contracts/scheduler.ts";
import type { Drive } from "./drive.ts";
import { attempt, describe, type Outcome } from "./engine/attempt.ts";
import type { Call } from "./engine/call.ts";
import { patiently } from "./engine/patiently.ts";
import { Crash, type Engine } from "./engine/world.ts";
import { agree } from "./model/agree.ts";
import { running } from "./model/state.ts";
import type { Op } from "./operation.ts";

/** Enough for a leader to hear of a claim, and to assign jobs to it. */
const WHILE_MS = 300;

/** A claim stands at the leader while others call; whatever was assigned to it by then is what it has claimed. */
export async function stand(drive: Drive, op: Op & { kind: "stand" }, via: number): Promise<void> {
	const { world, marks } = drive;
	if (!world.fleet) return;
	const engine = await drive.engine(via);
	const engines = new Map<Op, Engine>();
	for (const one of op.ops) engines.set(one, await drive.engine(one.via ?? 0));
	drive.prepare();
	const claim = { worker: "standing", host: engine.host, max: 1 };
	const claimed = new Claimer(engine, claim);
	await claimed.claim();
	await world.queue.sleep(op.id % 2 === 0 ? WHILE_MS : 0);
	// A caller that dies with the leader would not say what it has claimed.
	const isLeader = engine.database?.leads || [...engines.values()].some(({ database }) => database?.leads);
	await world.arm(op.fault?.kind === "crash" && isLeader ? undefined : op.fault, engine);
	const calls = op.ops.flatMap((one) => {
		const call = drive.callFor(one);
		const by = engines.get(one);
		return call && by ? [{ op: one, call, engine: by }] : [];
	});
	const half = Math.ceil(calls.length / 2);
	const outcomes = await Promise.all(calls.slice(0, half).map((one) => attempt(one.engine, one.call)));
	await world.disarm();
	// By now another process may lead, which must know of the claim.
	outcomes.push(...(await Promise.all(calls.slice(half).map((one) => attempt(one.engine, one.call)))));
	// A worker whose claim has ended without a job claims again; what was refused is told to that claim.
	await claimed.claim();
	await world.queue.sleep(WHILE_MS);
	await claimed.claim();
	const outcome = await claimed.retire();
	drive.noteTerms();
	const made = calls.map((one, index) => ({ ...one, outcome: outcomes[index] as Outcome }));
	const call: Call = { method: "claim", args: [claim] };
	await drive.explain([...made, { op, call, engine, outcome }]);
	if (outcome === "died" || !("result" in outcome)) return;
	const isServed = (outcome.result as Claimed[]).length > 0;
	marks.hit(isServed ? "claim:assigned" : "claim:withdrawn");
	if (isServed) return;
	const before = running(drive.state).length;
	await drive.call(call, via);
	agree(running(drive.state).length === before, `a claim of ${engine.host} stood and got nothing, though a job could start for it`);
}

type Claiming = (Call & { method: "claim" })["args"][0];

/** A worker that wants one job. */
class Claimer {
	private readonly got: Claimed[] = [];
	private failed: Outcome | undefined;

	constructor(
		private readonly engine: Engine,
		private readonly options: Claiming,
	) {}

	async claim(): Promise<void> {
		if (this.got.length === 0 && !this.failed) await this.take(this.engine.scheduler.claimStanding(this.options));
	}

	async retire(): Promise<Outcome> {
		await this.take(this.engine.scheduler.retire(this.options.worker));
		return this.failed ?? { result: this.got };
	}

	private async take(work: Promise<Claimed[]>): Promise<void> {
		try {
			this.got.push(...(await patiently(work, "claimStanding")));
		} catch (raw) {
			this.failed = { error: describe(raw), raw };
		}
	}
}

const TURNS = 20;
const TURN_MS = 1500;

/** The third leader that finds the request sets it aside. The request behind it is carried out all the same, once. */
export async function poison(drive: Drive, op: Op & { kind: "poison" }): Promise<void> {
	const { world, plan } = drive;
	const { fleet, queue } = world;
	if (!fleet) return;
	const first = world.engines.indexOf(await drive.looker());
	const via = plan.hosts.findIndex((_, index) => index !== first);
	const engine = await drive.engine(via);
	const { database } = engine;
	if (!database) return;
	drive.prepare();
	const call = drive.callFor({ ...op, kind: "add" });
	if (!call) return;
	database.process.mayLead = false;
	fleet.poisons = database.member;
	let isOver = false;
	const poisoned = attempt(engine, { method: "add", args: [{ command: ["true"], name: `poison-${op.id}` }] });
	const over = poisoned.then(() => {
		isOver = true;
	});
	await queue.sleep(5);
	const innocent = attempt(engine, call);
	for (let turn = 0; turn < TURNS && !isOver; turn++) {
		await Promise.race([over, queue.sleep(TURN_MS)]);
		await restart(drive, via);
	}
	const [outcome, other] = [await poisoned, await innocent];
	database.process.mayLead = true;
	agree(
		outcome !== "died" && "error" in outcome && /set aside/.test(outcome.error.message),
		`a request that ends its leaders was not set aside: ${JSON.stringify(outcome)}`,
	);
	await world.settle();
	agree(
		[...fleet.poison].every((key) => fleet.requests.has(key)),
		"a request that was set aside is not to be seen any more",
	);
	fleet.poison.clear();
	drive.noteTerms();
	drive.marks.hit("message:set-aside");
	await drive.explain([{ op: { ...op, kind: "add" }, call, engine, outcome: other }]);
}

/** The hosts whose processes are dead are started again, but for the caller. */
async function restart(drive: Drive, but: number): Promise<void> {
	const { world, plan } = drive;
	for (const [index, engine] of world.engines.entries()) if (engine?.life.over) world.kill(index);
	if (plan.hosts.some((_, index) => index !== but && world.engines[index] !== undefined)) return;
	const index = plan.hosts.findIndex((_, at) => at !== but);
	try {
		await drive.open(index);
	} catch (error) {
		if (!(error instanceof Crash)) throw error;
	}
}
