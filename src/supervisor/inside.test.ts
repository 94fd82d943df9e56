// Finds the run of a calling process by its ancestors.

import { expect, test } from "vitest";
import { FakeProcesses } from "../../test/make/fake-processes.ts";
import { runOfProcess } from "./inside.ts";
import { LiveRuns } from "./live-runs.ts";
import type { LiveRun } from "./run.ts";

const run = (id: string, pid: number | null): LiveRun =>
	({ id, job: Number(id.split(".")[0]), token: 5, secret: null, pid, stage: { is: "running" }, dir: "/no-such" }) as LiveRun;

function ask(lineage: [pid: number, mark: string | null][]) {
	const processes = new FakeProcesses();
	processes.lineages.set(
		9,
		lineage.map(([pid, mark]) => ({ pid, mark })),
	);
	const live = new LiveRuns();
	for (const one of [run("7.2", 70), run("8.1", null)]) live.add(one);
	return runOfProcess({ processes, live, homeTag: "abc" }, { pid: 9, start: "1" });
}

test.each<[string, [number, string | null][], unknown]>([
	["its own mark", [[9, "abc-7.2"]], { run: "7.2", job: 7, token: 5 }],
	[
		"the mark of an ancestor",
		[
			[9, null],
			[8, "abc-8.1"],
		],
		{ run: "8.1", job: 8, token: 5 },
	],
	[
		"the nearest of two marks",
		[
			[9, null],
			[8, "abc-8.1"],
			[7, "abc-7.2"],
		],
		{ run: "8.1", job: 8, token: 5 },
	],
	[
		"the mark of another home is skipped",
		[
			[9, "xyz-1.1"],
			[8, "abc-7.2"],
		],
		{ run: "7.2", job: 7, token: 5 },
	],
	["an attempt that is over", [[9, "abc-7.1"]], { run: "7.1", job: 7, token: null }],
	["a hook", [[9, "abc-work"]], null],
	["the daemon's git", [[9, "abc-git"]], null],
	[
		"a hook's mark below a run's program",
		[
			[9, "abc-hook"],
			[70, "abc-7.2"],
		],
		{ run: "7.2", job: 7, token: 5 },
	],
	[
		"a hook's mark below a run's program whose environment cannot be read",
		[
			[9, "abc-work"],
			[70, null],
		],
		{ run: "7.2", job: 7, token: 5 },
	],
	[
		"the mark of the daemon's git below a process of a run",
		[
			[9, "abc-git"],
			[8, "abc-8.1"],
		],
		{ run: "8.1", job: 8, token: 5 },
	],
	[
		"a hook's mark below what a run has left behind",
		[
			[9, "abc-work"],
			[8, "abc-7.1"],
		],
		{ run: "7.1", job: 7, token: null },
	],
	[
		"another run's mark below a run's program",
		[
			[9, "abc-8.1"],
			[70, "abc-7.2"],
		],
		{ run: "7.2", job: 7, token: 5 },
	],
	[
		"the mark of a run that is over below a run's program",
		[
			[9, "abc-7.1"],
			[70, "abc-7.2"],
		],
		{ run: "7.2", job: 7, token: 5 },
	],
	[
		"no mark, but a run's program as an ancestor",
		[
			[9, null],
			[70, null],
			[1, null],
		],
		{ run: "7.2", job: 7, token: 5 },
	],
	[
		"no mark and no run",
		[
			[9, null],
			[1, null],
		],
		null,
	],
	["a process that cannot be seen", [], null],
])("%s", async (_, lineage, inside) => {
	expect(await ask(lineage)).toEqual(inside);
});
