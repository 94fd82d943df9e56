// The role that a token gives to its bearer, compared in constant time.

import { createHash, timingSafeEqual } from "node:crypto";
import type { PersonRole } from "../../core/trust/people.ts";
import type { Caller, Supervision, Tokens } from "../context.ts";

const digest = (text: string) => createHash("sha256").update(text).digest();
/** Digests have equal length, whatever was presented. */
const same = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));

export const personCaller = ({ name, role, session }: { name: string; role: PersonRole; session: string }): Omit<Caller, "channel"> => ({
	role,
	by: name,
	person: { name, session },
});

export function bearer(
	presented: string,
	tokens: Tokens,
	supervisor: Pick<Supervision, "roleOfToken">,
	channel: Caller["channel"],
): Caller | undefined {
	const [admin, viewer] = [same(presented, tokens.admin), same(presented, tokens.viewer)];
	// An empty token is never valid: a token file that was truncated to nothing must not let a caller in.
	if (presented === "") return undefined;
	if (admin) return { role: "admin", by: "token", channel };
	if (viewer) return { role: "viewer", by: "viewer", channel };
	const run = supervisor.roleOfToken(presented);
	return run ? { role: "run", by: `run:${run.run}`, channel, job: run.job, token: run.token } : undefined;
}
