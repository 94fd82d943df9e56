// The model's hosts by themselves, on what docs/fleet.md says of them.

import { expect, test } from "vitest";
import { DEFAULTS } from "../../src/core/config.ts";
import type { Call } from "../engine/call.ts";
import { step } from "../model.ts";
import type { Seen } from "./agree.ts";
import { take } from "./claim.ts";
import { join, lookOf } from "./hosts.ts";
import { emptyState, find, type ModelHost, type State } from "./state.ts";

const MINUTE = 60_000;
const SECOND = 1000;
const unseen: Seen = { job: () => undefined, fresh: [] };

function makeFleet(): State {
	const state: State = { ...emptyState(structuredClone(DEFAULTS), 0), fleet: true };
	for (const name of ["a", "b"]) join(state, { name, labels: [], repos: null, home: `home-${name}` });
	return state;
}
const say = (state: State, host: string, call: Call, fresh: number[] = []) => step(state, call, { ...unseen, fresh }, { host, probed: [] });
const claim = (state: State, host: string) => take(state, { worker: "w", max: 10 }, host, () => ++state.last_token).map(({ id }) => id);
const look = (state: State, name: string) => lookOf(state.hosts.find((host) => host.name === name) as ModelHost, state.now);
/** Time passes; b says that it is there, and looks. */
function wait(state: State, ms: number): void {
	state.now += ms;
	say(state, "b", { method: "heartbeat", args: [] });
	say(state, "b", { method: "tick", args: [] });
}

test("a silent host is stale, then lost, and its jobs go to others without burning a retry", () => {
	const state = makeFleet();
	say(state, "a", { method: "add", args: [{ command: ["true"], locks: ["db"] }] }, [1]);
	expect(claim(state, "a")).toEqual([1]);
	wait(state, 10 * MINUTE);
	expect([look(state, "a"), look(state, "b"), find(state, 1)?.status]).toEqual(["stale", "live", "running"]);
	wait(state, 29 * SECOND);
	expect(look(state, "a")).toBe("stale");
	wait(state, SECOND);
	expect([look(state, "a"), find(state, 1)?.status, find(state, 1)?.failures]).toEqual(["gone", "queued", 0]);
	expect(state.told.slice(-2)).toEqual(["host_stale a", "host_lost a with 1"]);
	expect(claim(state, "a")).toEqual([]);
	expect(claim(state, "b")).toEqual([1]);
	expect(() => say(state, "a", { method: "complete", args: [{ job: 1, token: 1, exit_kind: "completed" }] })).toThrow("token 1 is stale");
});

test("a heartbeat within the grace brings it back, with its runs", () => {
	const state = makeFleet();
	say(state, "a", { method: "add", args: [{ command: ["true"] }] }, [1]);
	claim(state, "a");
	wait(state, 10 * MINUTE);
	say(state, "a", { method: "heartbeat", args: [] });
	wait(state, MINUTE);
	expect([look(state, "a"), find(state, 1)?.run?.host]).toEqual(["live", "a"]);
});

test("a drained host takes nothing, also after a restart, until a person says so", () => {
	const state = makeFleet();
	say(state, "b", { method: "drain", args: ["a", {}] });
	say(state, "b", { method: "add", args: [{ command: ["true"] }] }, [1]);
	join(state, { name: "a", labels: [], repos: null, home: "home-a" });
	expect([look(state, "a"), claim(state, "a")]).toEqual(["draining", []]);
	say(state, "b", { method: "undrain", args: ["a"] });
	expect(claim(state, "a")).toEqual([1]);
});
