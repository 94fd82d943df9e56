// What a host must do so that its processes match its assigned runs. Compares states, not events: recovery after a crash is just the next call.
//
//   assigned, and the host finds    then
//   alive                           adopt    it continues, nothing is touched
//   exited                          end      with the recorded code
//   unstarted (no start marker)     start    the same attempt, without using a retry
//   gone (marker, no process)       lost     "scheduler recovery"
//   nothing at all                  lost     the run's folder has disappeared
//   alive, but not assigned         stop     fenced: the job was reassigned

export type RunFinding = { run: string; state: "alive" | "exited" | "gone" | "unstarted"; exit_code?: number };
export type Duty = { run: string; do: "adopt" | "lost" | "start" | "stop" } | { run: string; do: "end"; exit_code: number };

export function reconcile(assigned: readonly string[], found: readonly RunFinding[]): Duty[] {
	const findings = new Map(found.map((one) => [one.run, one]));
	const duties: Duty[] = assigned.map((run) => {
		const finding = findings.get(run);
		switch (finding?.state) {
			case "alive":
				return { run, do: "adopt" };
			case "exited":
				return { run, do: "end", exit_code: finding.exit_code ?? 1 };
			case "unstarted":
				return { run, do: "start" };
			default:
				return { run, do: "lost" };
		}
	});
	const known = new Set(assigned);
	for (const one of found) if (one.state === "alive" && !known.has(one.run)) duties.push({ run: one.run, do: "stop" });
	return duties;
}
