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
	const calls = createCounter(onOver);
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
			const again = () => {
				over();
				request();
				onOver();
			};
			return void host.after(LEASE_RETRY_MS, again);
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
			claimed = await scheduler.claimStanding(claimer);
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

	/** Withdraws the claim that stands at the leader, and hands over what was assigned to it meanwhile. */
	const retire = () =>
		scheduler.retire(claimer.worker).then(begin, (error) => log.warn("a claim could not be withdrawn", { error: messageOf(error) }));

	async function runCycle(): Promise<PlanReport> {
		if (!isOpen || mayLaunch?.() === false) throw closedError();
		const { claimed, report } = await scheduler.runCycle(claimer);
		begin(claimed);
		return report;
	}

	return {
		request,
		runCycle: () => calls.count(runCycle),
		open(): void {
			isOpen = true;
		},
		/** Runs that were assigned to a claim which stood at the leader are still handed over. */
		close(): void {
			isOpen = false;
			void calls.count(retire);
		},
		get idle(): boolean {
			return claiming === null && calls.none;
		},
	};
}

const closedError = () =>
	new SluiceError("conflict", "this daemon starts nothing now: it is stopping, or waits for its lease", { hint: "try it again" });

/** Counts calls that may still hand over runs. */
function createCounter(onOver: () => void) {
	let open = 0;
	return {
		get none(): boolean {
			return open === 0;
		},
		async count<T>(call: () => Promise<T>): Promise<T> {
			open++;
			try {
				return await call();
			} finally {
				open--;
				onOver();
			}
		},
	};
}
