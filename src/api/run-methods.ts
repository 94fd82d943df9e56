// What a run's token may do with each method. test/e2e/run-token.test.ts calls each of them with a run's token and proves it.
//
//   adds      adds jobs below the run's own job that do not exceed it: core/trust/run-bounds.ts
//   itself    acts only on the run's own job and connection
//   reads     changes nothing; the part of it that acts (a charge, a cycle) is refused
//   refused   by its role

import { isAtLeast } from "./fields.ts";
import { METHODS, type MethodName } from "./protocol.ts";

export type RunMay = "adds" | "itself" | "reads" | "refused";

/** Methods with which a run acts: all of role `run`, and those that only read for any other caller. */
const ACTS: Partial<Record<MethodName, RunMay>> = {
	"job.add": "adds",
	"job.sling": "adds",
	"job.apply": "adds",
	"run.verdict": "itself",
	"run.result": "itself",
	"account.acquire": "itself",
	"account.release": "itself",
	"job.wait": "itself",
	"session.auth": "itself",
};

export const runMay = (method: MethodName): RunMay => ACTS[method] ?? (isAtLeast(METHODS[method].role, "operator") ? "refused" : "reads");

export const methodsThat = (may: RunMay): MethodName[] => (Object.keys(METHODS) as MethodName[]).filter((name) => runMay(name) === may);
