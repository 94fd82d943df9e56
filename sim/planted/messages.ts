// Planted bugs in the messages between the leader and its members, and in the database's part of them.

import { Consumed } from "../../src/fleet/consumed.ts";
import { FleetCore } from "../../src/fleet/core.ts";
import type { Heartbeat, Mail, Request } from "../../src/fleet/database.ts";
import { Inbox } from "../../src/fleet/inbox.ts";
import { Member } from "../../src/fleet/member.ts";
import { StandingClaims } from "../../src/fleet/standing.ts";
import { Term } from "../../src/fleet/term.ts";
import { TermStore } from "../../src/fleet/term-store.ts";
import { hearBeats } from "../../src/scheduler/operations/hosts.ts";
import { SimulatedDatabase, SimulatedLeaderStore } from "../engine/fleet-database.ts";
import { always, alwaysOp, type Bug, bugsOf, called, everywhere, inner, type Mistake, method, skipped, within } from "./bug.ts";

const FLEET = { fleet: true };

/** What the leader commits of messages is changed. */
const mailed = (change: (mail: Mail) => Partial<Mail>): Mistake =>
	everywhere(inner<() => Mail | undefined>({ TermStore }, "mail"), (right) => () => {
		const mail = right();
		return mail && { ...mail, ...change(mail) };
	});

export const MESSAGES: Bug[] = [
	...bugsOf(
		"a request is carried out once or not at all",
		{
			"a repeated insert is carried out twice": everywhere(method({ Consumed }, "has"), always(false)),
			"consumption is not committed with the effect": mailed(() => ({ consumed: [] })),
			"a new leader forgets what was consumed": within(
				inner({ Term }, "begin"),
				called<() => Promise<unknown>>("consumed"),
				() => () => Promise.resolve([]),
			),
			"the highest number counts for all below it": everywhere(method({ Consumed }, "with"), (right) => (member, numbers) => {
				const all = [...numbers];
				const { floor } = right(member, all);
				return { member, floor: Math.max(floor, ...all), above: [] };
			}),
			"a leader that was replaced commits": everywhere(inner<() => void>({ SimulatedLeaderStore }, "checkFence"), skipped),
			"a request that was given up before it was sent is sent": everywhere(
				inner<(batch: readonly { withdrawn: boolean }[]) => Promise<void>>({ Member }, "insert"),
				(right) => (batch) => {
					for (const call of batch) call.withdrawn = false;
					return right(batch);
				},
			),
		},
		FLEET,
	),
	...bugsOf(
		"a withdrawn request has no effect, and its caller knows",
		{
			"a withdrawn request is carried out": mailed(({ taken, dropped }) => ({ taken: [], dropped: [...dropped, ...taken] })),
			"the commit does not look for withdrawn requests": everywhere(
				inner<(mail: Mail) => void>({ SimulatedLeaderStore }, "refuseStale"),
				skipped,
			),
			"a caller that withdraws does not look for the reply": within(
				inner({ Member }, "withdraw"),
				called<() => Promise<void>>("look"),
				() => () => Promise.resolve(),
			),
			"what was withdrawn is not marked": everywhere(
				inner<(request: Request) => unknown>({ Inbox }, "accept"),
				(right) => (request) => right({ ...request, withdrawn: false }),
			),
		},
		FLEET,
	),
	...bugsOf(
		"no outcome is ever unknown",
		{
			"no reply is written": mailed(() => ({ replies: [] })),
			"a refused operation is answered as done": mailed(({ replies }) => ({
				replies: replies.map((reply) => (reply.failed ? { ...reply, failed: false, body: "null" } : reply)),
			})),
			"a commit in doubt is taken for failed": everywhere(
				inner<() => Promise<boolean>>({ FleetCore }, "wasCommitted"),
				() => () => Promise.resolve(false),
			),
			"a commit in doubt is taken for done": everywhere(
				inner<() => Promise<boolean>>({ FleetCore }, "wasCommitted"),
				() => () => Promise.resolve(true),
			),
		},
		FLEET,
	),
	...bugsOf(
		"a request that ends its leaders is set aside, alone and visibly",
		{
			"tries are not counted": within(
				method({ Inbox }, "carryOutOld"),
				called<() => Promise<void>>("countTry"),
				() => () => Promise.resolve(),
			),
			"a request that was set aside is deleted": mailed(({ aside, dropped }) => ({ aside: [], dropped: [...dropped, ...aside] })),
			"a request that should be set aside is left lying": within(
				method({ Inbox }, "carryOutOld"),
				called<() => Promise<void>>("decide"),
				() => () => Promise.resolve(),
			),
		},
		FLEET,
	),
	...bugsOf(
		"a claim stands until jobs are assigned to it, once",
		{
			"a claim stands on after it was served": everywhere(method({ StandingClaims }, "remove"), skipped),
			"claims that stand are not tried": everywhere(method({ StandingClaims }, "assign"), alwaysOp(undefined)),
			"a claim in doubt is answered with nothing": within(
				inner({ Term }, "end"),
				called<() => Promise<unknown>>("outcomeOf"),
				() => () => Promise.resolve(undefined),
			),
		},
		FLEET,
	),
	...bugsOf(
		"a host that beats is not given up",
		{
			"a heartbeat that came meanwhile does not count": mailed(({ heartbeats }) => ({
				heartbeats: heartbeats.map((row: Heartbeat) => (row.open ? row : { ...row, at: Number.POSITIVE_INFINITY })),
			})),
			"heartbeats are not heard": within(inner({ Term }, "first"), hearBeats, skipped),
			"a new leader gives up hosts at once": within(inner({ Term }, "first"), hearBeats, (right) => (tx, beats) => right(tx, beats, 0)),
			"a host that was given up renews its lease": everywhere(
				inner<(host: string, life: number) => boolean>({ SimulatedDatabase }, "beat"),
				(right) => (host, life) => right(host, life) || life > 0,
			),
			"the heartbeat of a host that was given up stays open": mailed(({ heartbeats }) => ({
				heartbeats: heartbeats.filter(({ open }) => open),
			})),
		},
		FLEET,
	),
];
