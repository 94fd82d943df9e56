// After the storm: no faults, nothing paused, money for all, every gate opened. Whatever can end must end; what waits must say a true reason.

import type { Config } from "../src/core/config.ts";
import { allRefusals } from "./checkers/reasons.ts";
import type { Drive } from "./drive.ts";
import { agree } from "./model/agree.ts";
import { isUnreviewed } from "./model/gates/late.ts";
import { running, waiting } from "./model/state.ts";

const ROUNDS = 400;
/** Beyond any back-off, lease, hold, cooldown, reset or active hours. */
const STEP_MS = 20 * 60_000;

/** The same configuration with room for everything. */
function roomy(config: Config): Config {
	const open: Config = structuredClone(config);
	open.max_concurrent = 20;
	open.safety_cap = 0;
	open.batch_size = 0;
	open.cycle_interval_ms = 0;
	open.spawn_delay_ms = 0;
	for (const lane of Object.values(open.lanes)) Object.assign(lane, { max: null, active_hours: [] });
	for (const map of [open.repos, open.accounts, open.hosts]) for (const one of Object.values(map)) one.max = null;
	for (const name of Object.keys(open.resources)) open.resources[name] = 50;
	return open;
}

async function openGates(drive: Drive): Promise<void> {
	const config = roomy(drive.state.config);
	await drive.call({ method: "configure", args: [config as unknown as Record<string, unknown>] }, 0, { id: 0, kind: "configure", config });
	for (const hold of [...drive.state.holds]) {
		const [of, name] = hold.scope.split(":");
		await drive.call({ method: "resume", args: [of === "all" || of === undefined ? {} : { [of]: name }] });
	}
	for (const account of Object.keys(drive.state.accounts)) await drive.call({ method: "clearAccount", args: [account] });
	for (const ledger of [...drive.state.ledgers]) {
		if (!ledger.subject.startsWith("pid:")) await drive.call({ method: "grant", args: [ledger.subject, ledger.dim, { limit: null }] });
	}
	for (const [key, value] of drive.world.facts) {
		if (key.startsWith("artifact:") || key.startsWith("condition:")) drive.world.facts.set(key, true);
		if (key.startsWith("busy:")) drive.world.facts.set(key, null);
		if (key.startsWith("item:") && value !== null && typeof value === "object" && "open" in value && value.open)
			drive.world.facts.set(key, { open: true, blocked_by: [] });
	}
	for (const job of waiting(drive.state)) {
		for (const artifact of job.needs) {
			const missing = /^(custom|sentinel):/.test(artifact) && !drive.state.markers.includes(artifact);
			if (missing) await drive.call({ method: "mark", args: [artifact] });
		}
	}
}

async function answerAll(drive: Drive): Promise<void> {
	for (const job of waiting(drive.state)) {
		if (job.hold) await drive.call({ method: "release", args: [[job.id]] });
		if (job.approval === "needed") await drive.call({ method: "approve", args: [job.id] });
		if (job.question !== undefined) await drive.call({ method: "answer", args: [job.id, "go on"] });
	}
}

/** A branch that is pinned at two commits can only please one job at a time. */
function turnHeads(drive: Drive, round: number): void {
	for (const key of drive.world.facts.keys()) {
		if (key.startsWith("head:")) drive.world.facts.set(key, round % 2 === 0 ? "aaa111" : "bbb222");
	}
}

/** Every host of a fleet lives, takes work, and says so; one that was removed is started again. */
async function wakeHosts(drive: Drive): Promise<void> {
	for (const [index, { name }] of drive.plan.hosts.entries()) {
		if (!drive.state.hosts.some((host) => host.name === name)) drive.world.kill(index);
		await drive.call({ method: "heartbeat", args: [] }, index);
		if (drive.state.hosts.some((host) => host.name === name && host.drained)) await drive.call({ method: "undrain", args: [name] }, index);
	}
}

export async function liveness(drive: Drive): Promise<void> {
	drive.thorough = false;
	await openGates(drive);
	let quiet = 0;
	for (let round = 0; round < ROUNDS && quiet < 4; round++) {
		const before = waiting(drive.state).length + running(drive.state).length;
		drive.advance(STEP_MS, 0);
		turnHeads(drive, round);
		if (drive.plan.fleet) await wakeHosts(drive);
		await drive.call({ method: "tick", args: [] });
		await drive.call({ method: "tick", args: [] });
		await answerAll(drive);
		// A person reviews what waits: no job may stay behind the cap on unreviewed work.
		for (const job of drive.state.jobs.filter(isUnreviewed)) await drive.call({ method: "merged", args: [job.id, "merged"] });
		for (const [via, { name }] of drive.plan.hosts.entries()) {
			// In a fleet every second claim is a host's own.
			const host = drive.plan.fleet && (round + via) % 2 === 0 ? { host: name } : {};
			await drive.call({ method: "claim", args: [{ worker: "last", max: 1000, ...host }] }, via);
		}
		for (const job of running(drive.state)) {
			if (job.run === undefined) continue;
			// An end that tells of a process says as much.
			if (job.id % 4 === 0) await drive.call({ method: "started", args: [{ job: job.id, token: job.run.token }] });
			await drive.call({ method: "complete", args: [{ job: job.id, token: job.run.token, exit_kind: "completed", exit_code: 0 }] });
			if (job.will_merge && job.status === "succeeded") await drive.call({ method: "merged", args: [job.id, "merged"] });
		}
		const after = waiting(drive.state).length + running(drive.state).length;
		quiet = after === 0 ? 100 : after < before ? 0 : quiet + 1;
	}
	agree(running(drive.state).length === 0, "jobs are still running after everything was ended");
	for (const job of waiting(drive.state)) {
		const refusals = allRefusals(drive.state, job);
		const lasting = refusals.filter((refusal) => !["time", "locks", "capacity", "review"].includes(refusal.gate));
		agree(
			lasting.length > 0,
			`job ${job.id} (${job.status}) never ends and nothing that lasts stands in its way: ${refusals.map((refusal) => refusal.codes[0]).join(", ") || "nothing at all"}`,
		);
	}
}
