// What a host must do so that its processes match its assigned runs. Compares states, not events: recovery after a crash is just the next call.
//
//   assigned, and the host finds         then
//   alive                                adopt        it continues, nothing is touched
//   exited                               end          with the recorded code
//   unstarted (no start marker)          start        the same attempt, without using a retry
//     … but a stop was requested         forbid       it must never start
//     … but its start was reported       lost         its folder was removed: starting it again would make two
//   gone (marker, no process)            lost         "scheduler recovery"
//   nothing at all                       lost         the run's folder has disappeared
//   followed (the host takes care of it) pass_stop    if a stop was requested
//                                        freeze, thaw if a person froze or thawed it, and the host does not know
//                                        nothing      else
//   reported (its end was just recorded) nothing      the assignment is older than the end
//
//   not assigned, and the host finds     then
//   followed                             abandon      fenced: the job was reassigned
//   alive, or marked (its processes)     clear        fenced, by an earlier daemon of this host
//   anything else                        nothing

import type { Alive, Exited, Gone, Sighting } from "./runs/sighting.ts";

/** `launched`: its start was reported. `stopping`: a stop was requested. `frozen`: by a person. */
export type AssignedRun = { run: string; launched?: boolean; stopping?: boolean; frozen?: boolean };
/** `seen`: what its folder and the process table say; or what the host knows of the run without looking. */
export type FoundRun = { run: string; seen: Sighting | { state: "followed"; frozen?: boolean } | { state: "reported" | "marked" } };

/** `A`: what the caller knows about an assigned run. */
export type Duty<A extends AssignedRun> =
	| { do: "adopt"; assigned: A; seen: Alive }
	| { do: "end"; assigned: A; seen: Exited }
	| { do: "lost"; assigned: A; seen: Gone }
	| { do: "start"; assigned: A }
	| { do: "forbid"; assigned: A }
	| { do: "pass_stop"; assigned: A }
	| { do: "freeze" | "thaw"; assigned: A }
	| { do: "abandon"; run: string }
	| { do: "clear"; run: string };

export function reconcile<A extends AssignedRun>(assigned: readonly A[], found: readonly FoundRun[]): Duty<A>[] {
	const sightings = new Map(found.map(({ run, seen }) => [run, seen]));
	const duties: Duty<A>[] = assigned.flatMap((one) => dutyFor(one, sightings.get(one.run)) ?? []);
	const known = new Set(assigned.map(({ run }) => run));
	for (const { run, seen } of found) {
		if (known.has(run)) continue;
		if (seen.state === "followed") duties.push({ do: "abandon", run });
		if (seen.state === "alive" || seen.state === "marked") duties.push({ do: "clear", run });
	}
	return duties;
}

const GONE: Gone = { state: "gone", reboot: false };

function dutyFor<A extends AssignedRun>(assigned: A, seen: FoundRun["seen"] = GONE): Duty<A> | null {
	switch (seen.state) {
		case "alive":
			return { do: "adopt", assigned, seen };
		case "exited":
			return { do: "end", assigned, seen };
		case "gone":
			return { do: "lost", assigned, seen };
		case "unstarted":
			if (assigned.launched) return { do: "lost", assigned, seen: GONE };
			return { do: assigned.stopping ? "forbid" : "start", assigned };
		case "followed":
			if (assigned.stopping) return { do: "pass_stop", assigned };
			if ((assigned.frozen ?? false) === (seen.frozen ?? false)) return null;
			return { do: assigned.frozen ? "freeze" : "thaw", assigned };
		case "reported":
		case "marked":
			return null;
	}
}
