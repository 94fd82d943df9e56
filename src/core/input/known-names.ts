// Names that a job refers to: each must be known; the error for an unknown one suggests the nearest.

import type { Config } from "../config.ts";
import { SluiceError } from "../errors.ts";
import * as check from "./check.ts";
import { nearest } from "./nearest.ts";

/** The error for an unknown lane, repo, agent …: with the nearest name, or with all known ones. */
export function missing(what: string, name: string, all: readonly string[], field: string): SluiceError {
	const guess = nearest(name, all);
	const way = what === "repo" ? `sluice repo add FOLDER --name ${name}` : `add it under ${what}s in the configuration`;
	const list = all.length > 0 ? `known: ${all.slice(0, 20).join(", ")}` : `none is configured; ${way}`;
	const found = guess ? `did you mean "${guess}"?` : list;
	const making = { lane: `make it: sluice lane set ${name} --max N`, agent: `say how to start it: agents.${name}.command` }[what];
	return new SluiceError("not_found", `${field}: there is no ${what} ${check.shown(name)}`, {
		field,
		hint: making === undefined || (guess && what === "agent") ? found : `${found}${guess ? "" : ";"} or ${making}`,
	});
}

export function known(what: string, name: string, all: Record<string, unknown>, field: string): string {
	if (!Object.hasOwn(all, name)) throw missing(what, name, Object.keys(all), field);
	return name;
}

/** `allowed`: the agents that the configuration lists, empty = any. `known`: the agents of this host; a listed one may belong to another host. */
export function knownAgent(name: string, allowed: readonly string[], known: readonly string[] | undefined, field: string): string {
	if (allowed.length > 0 ? !allowed.includes(name) : known !== undefined && !known.includes(name))
		throw missing("agent", name, allowed.length > 0 ? allowed : (known ?? []), field);
	return name;
}

const defaultLane = (config: Config): string => ("default" in config.lanes ? "default" : (Object.keys(config.lanes)[0] ?? "default"));

/** The lane of a job: one that the configuration names, or one of `flows` if `flow_max` gives those a cap. */
export function laneIn(name: string | undefined, config: Config, how: { flows: readonly string[]; force: boolean; field: string }): string {
	const { flows, force, field } = how;
	const lane = name ?? defaultLane(config);
	const isFlow = !Object.hasOwn(config.lanes, lane) && (config.flow_max ?? null) !== null && flows.includes(lane);
	if (!Object.hasOwn(config.lanes, lane) && !isFlow) throw missing("lane", lane, Object.keys(config.lanes), field);
	const max = isFlow ? config.flow_max : config.lanes[lane]?.max;
	if (max === 0 && !force)
		throw new SluiceError("impossible", `${field}: lane ${lane} has cap 0: this job could never run`, {
			field,
			hint: `raise it: ${isFlow ? "sluice config set flow_max N" : `sluice lane set ${lane} --max N`}, or add it with --force`,
		});
	return lane;
}
