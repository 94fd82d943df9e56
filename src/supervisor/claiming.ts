// Claims runs from the scheduler, at most one claim at a time, and hands them over to be started.

import type { Claimed, ClaimOptions, PlanReport } from "../contracts/scheduler.ts";
import { messageOf, SluiceError } from "../core/errors.ts";
import { ABANDONED, PASS_MS } from "../core/time/pass-limit.ts";
import type { SupervisorDeps } from "./context.ts";

const CLAIM_MAX = 100;
const CLAIM_RETRY_MS = 1_000;
const LEASE_RETRY_MS = 100;

type ClaimingParts = Pick<SupervisorDeps, "scheduler" | "host" | "log" | "hostName" | "mayLaunch"> & {
	begin(claimed: readonly Claimed[]): void;
	/** A claim or a cycle is over: `drain` waits for that. */
	onOver(): void;
	fault(error: unknown): void;
};

/**
 * `request` claims, unless a claim is under way already: that claim sees everything that is committed before it begins. `runCycle` implements `sluice run`.
 * After `close`, nothing more is claimed, but a claim that is under way may still hand over runs. `idle`: no claim and no cycle is under way.
 */
export function createClaiming({ scheduler, host, log, hostName, mayLaunch, begin, onOver, fault }: ClaimingParts) {
	const claimer: ClaimOptions = { worker: `host:${hostName}`, host: hostName, kinds: ["command", "agent"], max: CLAIM_MAX };
	/** Identifies the claim under way; null if there is none. */
	let claiming: object | null = null;
	let cycles = 0;
	let isOpen = false;

	function request(): void {
		if (!isOpen || claiming) return;
		const mine = {};
		claiming = mine;
		const over = () => {
			if (claiming === mine) claiming = null;
		};
		// The host's lease may be over, so runs claimed now could not be launched. Try again after the next heartbeat has renewed it.
		if (mayLaunch?.() === false) {
			host.after(LEASE_RETRY_MS, () => {
				over();
				request();
				onOver();
			});
			return;
		}
		const cancelLate = host.after(PASS_MS, () => {
			log.error(ABANDONED);
			over();
			request();
		});
		claim(over)
			.catch(fault)
			.finally(() => {
				cancelLate();
				onOver();
			});
	}

	async function claim(over: () => void): Promise<void> {
		let claimed: Claimed[];
		try {
			claimed = await scheduler.claim(claimer);
		} catch (error) {
			over();
			if (!isOpen) return;
			log.error("claiming failed; it is tried again", { error: messageOf(error) });
			host.after(CLAIM_RETRY_MS, request);
			return;
		}
		over();
		begin(claimed);
		if (claimed.length === CLAIM_MAX) request();
	}

	async function runCycle(): Promise<PlanReport> {
		if (!isOpen || mayLaunch?.() === false)
			throw new SluiceError("conflict", "this daemon starts nothing now: it is stopping, or waits for its lease", { hint: "try it again" });
		cycles++;
		try {
			const { claimed, report } = await scheduler.runCycle(claimer);
			begin(claimed);
			return report;
		} finally {
			cycles--;
			onOver();
		}
	}

	return {
		request,
		runCycle,
		open(): void {
			isOpen = true;
		},
		close(): void {
			isOpen = false;
		},
		get idle(): boolean {
			return claiming === null && cycles === 0;
		},
	};
}
