// Planted bugs in hosts: leases, lost hosts, drains, jobs that stay on a host. And in leases of runs.

import type { Op } from "../../src/contracts/store.ts";
import { graceMs, hostState } from "../../src/core/fleet.ts";
import { ableHosts, suits } from "../../src/core/gates/buckets/host.ts";
import type { Job } from "../../src/core/job.ts";
import { finish } from "../../src/scheduler/operations/finish.ts";
import { checkLife, joinHost, leave, loseRuns, nextHostAt, runsOn } from "../../src/scheduler/operations/hosts.ts";
import type { Tx } from "../../src/scheduler/transaction/tx.ts";
import { always, alwaysOp, type Bug, bugsOf, everywhere, hidden, within } from "./bug.ts";

const ENDED = { job: 0, status: "failed" } as const;

export const HOSTS: Bug[] = [
	...bugsOf("a run whose lease has ended is lost", {
		"a lost lease is not noticed": everywhere(
			hidden<(tx: Tx, job: Job, leases: "expire" | "renew") => Op<void>>("due"),
			(right) => (tx, job) => right(tx, job, "renew"),
		),
	}),

	...bugsOf(
		"the runs of a lost host go to others",
		{
			"a lost host keeps its slots": within(
				loseRuns,
				finish,
				(right) =>
					function* (tx, told, decided) {
						const host = tx.peek(told.job)?.run?.host;
						const ended = yield* right(tx, told, decided);
						if (host) tx.count("usage", `host:${host}`, 1);
						return ended;
					},
			),
			"a lost host burns a retry": within(loseRuns, finish, (right) => (tx, told) => right(tx, { ...told, reboot: false })),
			"a lost host keeps its runs": within(loseRuns, finish, alwaysOp(ENDED)),
			"no grace before a host is lost": everywhere(graceMs, always(0)),
			"no timer is set for a host's lease": everywhere(nextHostAt, always(Number.POSITIVE_INFINITY)),
		},
		{ fleet: true },
	),

	...bugsOf(
		"only a live host claims, and only one process in its name",
		{
			"a draining host claims": within(suits, hostState, (right) => (host, now) => {
				const state = right(host, now);
				return state === "draining" ? "live" : state;
			}),
			"a stale host claims": within(suits, hostState, (right) => (host, now) => {
				const state = right(host, now);
				return state === "stale" ? "live" : state;
			}),
			"an overtaken process goes on": everywhere(
				checkLife,
				(right) => (tx, name, life) => right(tx, name, life && (tx.memory.hosts.get(name)?.token ?? life)),
			),
			"a restart forgets the drain": everywhere(joinHost, (right) => (tx, joining) => {
				const life = right(tx, joining);
				const joined = tx.memory.hosts.get(joining.name);
				if (life === undefined || !joined?.drain) return life;
				const { drain: _, ...host } = joined;
				tx.put("host", joining.name, host);
				return life;
			}),
			"a host leaves with its runs": within(leave, runsOn, always(0)),
			"a job that stays on a host goes anywhere": everywhere(
				ableHosts,
				(right) =>
					({ stays: _, ...bucket }, hosts, now) =>
						right(bucket, hosts, now),
			),
		},
		{ fleet: true },
	),
];
