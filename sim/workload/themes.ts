// What a seed is about: each one leaves most things out, so that the rest meets often (swarm testing).

import type { Random } from "../random.ts";

export const THEMES = [
	"after",
	"parents",
	"artifacts",
	"heads",
	"conditions",
	"items",
	"approval",
	"locks",
	"serial",
	"unique",
	"delays",
	"deadlines",
	"retries",
	"launches",
	"owners",
	"accounts",
	"uses",
	"labels",
	"batches",
	"repos",
	"ranks",
	"pauses",
	"rewinds",
	"kernel",
	"calls",
	"configure",
	"gc",
	"recover",
	"jumps",
	"crashes",
	"disk",
	"two",
	"together",
	"stale",
	"manifests",
	"agents",
	"payloads",
	"bad",
	"hours",
	"budgets",
	"merges",
	"names",
	"crowd",
	"old",
	"waits",
] as const;
export type Theme = (typeof THEMES)[number];
export type Themes = ReadonlySet<Theme>;

/** Rare: they cost time or drown the rest. */
const RARE: Partial<Record<Theme, number>> = {
	jumps: 0.1,
	crashes: 0.25,
	disk: 0.25,
	two: 0.2,
	together: 0.25,
	kernel: 0.25,
	crowd: 0.03,
	calls: 0.2,
	gc: 0.25,
	bad: 0.3,
	old: 0.3,
};

export function drawThemes(random: Random): Themes {
	const density = random.pick([0.15, 0.3, 0.5, 0.75]);
	return new Set(THEMES.filter((theme) => random.chance(RARE[theme] ?? density)));
}

export const LANES = ["default", "code", "docs"];
export const REPOS = ["app", "lib"];
export const ACCOUNTS = ["home", "work"];
export const OWNERS = ["ann", "bob"];
export const BATCHES = ["b1", "b2"];
export const AGENTS = ["claude", "codex"];
export const KEYS = ["db", "net", "ui"];
export const ITEMS = ["app-1", "app-2", "app-3"];
export const SOURCE = "beads";
export const LABELS = ["gpu", "mac"];
export const DIMS = ["tokens", "runs", "wall_s", "cost_micro"];
/** Artifacts that a repo's host can see, each bound to one repo or to none. */
export const SEEN_ARTIFACTS: { artifact: string; repo?: string }[] = [
	{ artifact: "file:out.txt" },
	{ artifact: "probe:ready" },
	{ artifact: "branch:topic", repo: "app" },
	{ artifact: "doc:main:plan.md", repo: "app" },
	{ artifact: "commits:feature", repo: "lib" },
	{ artifact: "ahead:feature", repo: "lib" },
];
export const MARKERS = ["custom:report:one", "custom:report:two", "sentinel:merge-x"];
export const COMMITS = ["aaa111", "bbb222"];
