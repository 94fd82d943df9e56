// The demo's work: twelve jobs of one small release, what each runs, and the configuration they run under.
//
//   plan ─┬─ schema (lock db) ── api ────── unit (fails once) ─┐
//         ├─ import (lock db) ───────┬──── e2e ────────────────┼── release (asks for approval)
//         ├─ pages ──────────────────┴──── lint ───────────────┤
//         └─ styles, docs ─────────────────────────────────────┘
//   crawl  starts helpers that leave its session, and never ends by itself

import type { JobInput } from "../../src/core/job.ts";

export const BATCH = "release";
export const LANES = { agents: 3, checks: 2 } as const;

export const configText = (pace: number) => `# The demo's own settings.
max_concurrent: 5
lanes:
  default: null
  agents: { max: ${LANES.agents} }
  checks: { max: ${LANES.checks}, priority: 10 }
stop: { grace_term: ${Math.round(900 * pace)}ms }
`;

/** Each line that a program writes begins with its pid: whoever reads on sees whether it is still the same process. */
export const PROGRAMS: Record<string, string> = {
	"agent.sh": `# Stands in for a coding agent: says what it does, a line a step. sh agent.sh SECONDS STEP...
seconds=$1 step=0
shift
for what; do
	step=$((step + 1))
	while [ "$step" = $# ] && [ -n "$LAST_STEP_AFTER" ] && [ ! -e "$LAST_STEP_AFTER" ]; do sleep 0.1; done
	echo "[$$] $step/$# $what"
	sleep "$seconds"
	[ "$SLUICE_ATTEMPT" = 1 ] && [ "$FAILS_ONCE_AT" = "$step" ] && { echo "2 tests are red" >&2; exit 1; }
done
exit 0
`,
	"crawl.sh": `# Starts two helpers in sessions of their own, out of reach of a signal to its process group. The second one ignores SIGTERM.
leave() { if command -v setsid >/dev/null; then exec setsid "$@"; else exec perl -MPOSIX=setsid -e 'setsid; exec @ARGV' "$@"; fi; }
(leave sh -c 'echo "[$$] helper, in a session of its own"; while :; do sleep 1; done') &
(leave sh -c 'trap "" TERM; echo "[$$] helper, in a session of its own, deaf to SIGTERM"; while :; do sleep 1; done') &
sleep 0.1
echo "[$$] reading every page on the subject, for ever"
while :; do sleep 1; done
`,
};

/** Made when the daemon's death is over. On a slow machine the agents that should outlast it wait for this before their last step. */
export const OVER = "death-is-over";
const outlast = { env: { LAST_STEP_AFTER: OVER } };

type Work = { seconds: number; steps: string[] };
type Part = JobInput & { name: string } & (Work | { program: string });

const STORY: Part[] = [
	{
		name: "plan",
		lane: "agents",
		priority: 30,
		seconds: 0.4,
		steps: ["reading the request", "cutting it up", "naming the parts", "plan.md"],
	},
	{ name: "crawl", lane: "agents", priority: 20, program: "crawl.sh" },
	{
		name: "schema",
		lane: "agents",
		priority: 20,
		after: ["plan"],
		locks: ["db"],
		seconds: 0.6,
		steps: ["reading plan.md", "table customers", "table orders", "table items", "indexes", "migration 0001", "trying it"],
	},
	{
		name: "import",
		lane: "agents",
		priority: 15,
		after: ["plan"],
		locks: ["db"],
		...outlast,
		seconds: 0.7,
		steps: ["reading the old dump", "customers", "orders", "items", "oddities", "counting rows", "counting again", "report", "tidying up"],
	},
	{
		name: "pages",
		lane: "agents",
		priority: 12,
		after: ["plan"],
		...outlast,
		seconds: 0.8,
		steps: [
			"reading plan.md",
			"front page",
			"search",
			"product",
			"basket",
			"checkout",
			"account",
			"help",
			"errors",
			"links",
			"small screens",
			"done",
		],
	},
	{ name: "styles", lane: "agents", priority: 10, after: ["plan"], seconds: 0.45, steps: ["colours", "type", "grid", "dark"] },
	{ name: "docs", lane: "agents", after: ["plan"], seconds: 0.45, steps: ["reading the plan", "install.md", "usage.md", "proof-reading"] },
	{
		name: "api",
		lane: "agents",
		priority: 5,
		after: ["schema"],
		seconds: 0.45,
		steps: ["routes", "orders", "payment", "errors", "examples"],
	},
	{ name: "lint", lane: "checks", after: ["pages"], seconds: 0.5, steps: ["formatting", "types"] },
	{ name: "e2e", lane: "checks", after: ["pages", "import"], seconds: 0.5, steps: ["browser", "search", "basket", "checkout", "report"] },
	{
		name: "unit",
		lane: "checks",
		after: ["api"],
		retry: { max: 2, base_ms: 1000, jitter: 0 },
		env: { FAILS_ONCE_AT: "2" },
		seconds: 0.45,
		steps: ["set-up", "orders", "payment", "report"],
	},
	{
		name: "release",
		lane: "checks",
		after: ["unit", "e2e", "lint", "styles", "docs"],
		requires_approval: true,
		seconds: 0.4,
		steps: ["tagging", "uploading", "announcing"],
	},
];

/** `pace` stretches or shrinks every time in it. */
export function manifest(folder: string, pace: number): { batch: string; jobs: JobInput[] } {
	const jobs = STORY.map((part): JobInput => {
		const { seconds: _, steps: __, program: ___, ...job } = { seconds: 0, steps: [], program: "", ...part };
		const command = "program" in part ? ["sh", part.program] : ["sh", "agent.sh", String(part.seconds * pace), ...part.steps];
		const retry = typeof job.retry === "object" ? { ...job.retry, base_ms: Math.round((job.retry.base_ms ?? 1000) * pace) } : undefined;
		return { ...job, command, cwd: folder, ...(retry ? { retry } : {}) };
	});
	return { batch: BATCH, jobs };
}
