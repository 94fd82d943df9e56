// Who a token makes of its bearer, compared in constant time; and the lock-out after too many wrong ones.

import { createHash, timingSafeEqual } from "node:crypto";
import type { Clock } from "../host.ts";
import type { Caller, Supervision, Tokens } from "./context.ts";

const digest = (text: string) => createHash("sha256").update(text).digest();
/** Digests are equally long, whatever was presented. */
const same = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));

export function bearer(
	presented: string,
	tokens: Tokens,
	supervisor: Pick<Supervision, "roleOfToken">,
	door: Caller["door"],
): Caller | undefined {
	const [operator, viewer] = [same(presented, tokens.operator), same(presented, tokens.viewer)];
	// An empty token is none: a file that was cut to nothing opens no door.
	if (presented === "") return undefined;
	if (operator) return { role: "operator", by: "token", door };
	if (viewer) return { role: "viewer", by: "viewer", door };
	const run = supervisor.roleOfToken(presented);
	return run ? { role: "run", by: `run:${run.run}`, door, job: run.job, token: run.token } : undefined;
}

const FAILURES = 10;
const WINDOW_MS = 60_000;
const LOCKED_MS = 30_000;
const KEPT = 1000;

/** Per address: ten wrong tokens within a minute, and for half a minute no token counts. The socket stays open to its owner. */
export class Lockout {
	private readonly failures = new Map<string, { since: number; count: number; until: number }>();

	constructor(private readonly clock: Pick<Clock, "monotonic">) {}

	/** Milliseconds until tokens from there are looked at again; 0 = now. */
	left(address: string): number {
		return Math.max(0, (this.failures.get(address)?.until ?? 0) - this.clock.monotonic());
	}

	failed(address: string): void {
		const now = this.clock.monotonic();
		const known = this.failures.get(address);
		const one = known && now - known.since <= WINDOW_MS ? known : { since: now, count: 0, until: 0 };
		one.count++;
		if (one.count >= FAILURES) Object.assign(one, { since: now, count: 0, until: now + LOCKED_MS });
		this.failures.delete(address);
		this.failures.set(address, one);
		if (this.failures.size > KEPT) this.failures.delete(this.failures.keys().next().value as string);
	}
}
