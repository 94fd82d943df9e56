// Plays the model of docs/fleet-load.md: node dist/bench/model/main.js [--hosts N] [--runs N] [--run-seconds N] [--wake all|free] [--look apart|lock] [--reads all|changed] …
//
// Without a choice of fleet: the table of that page. --rtt MS is the journey between host and database, --faster N a database so much quicker.

import { readArguments } from "../../scripts/arguments.ts";
import { type Constants, type Cost, MEASURED } from "./constants.ts";
import { type Fleet, type Outcome, play } from "./play.ts";

const values = readArguments("fleet-load", {
	hosts: { type: "string" },
	runs: { type: "string" },
	"run-seconds": { type: "string" },
	poll: { type: "string", default: "1" },
	heartbeat: { type: "string", default: "30" },
	wake: { type: "string", default: "all" },
	look: { type: "string", default: "apart" },
	reads: { type: "string", default: "all" },
	spread: { type: "string", default: "0" },
	seconds: { type: "string", default: "120" },
	seed: { type: "string", default: "1" },
	rtt: { type: "string" },
	faster: { type: "string", default: "1" },
});

const one: Fleet = {
	hosts: Number(values.hosts ?? 1000),
	runs: Number(values.runs ?? 100_000),
	runSeconds: Number(values["run-seconds"] ?? 600),
	pollSeconds: Number(values.poll),
	heartbeatSeconds: Number(values.heartbeat),
	wake: values.wake === "free" ? "free" : "all",
	look: values.look === "lock" ? "lock" : "apart",
	reads: values.reads === "changed" ? "changed" : "all",
	spreadSeconds: Number(values.spread),
	seconds: Number(values.seconds),
	seed: Number(values.seed),
};

/** The fleets of the page: size, then how hosts are woken. */
const SIZES = [
	{ hosts: 4, runs: 400 },
	{ hosts: 30, runs: 3000 },
	{ hosts: 100, runs: 10_000 },
	{ hosts: 300, runs: 30_000 },
	{ hosts: 1000, runs: 100_000 },
];
const WAYS: { name: string; way: Partial<Fleet> }[] = [
	{ name: "all wake, and look with the lock (as it was)", way: { wake: "all", look: "lock", pollSeconds: 1 } },
	{ name: "all wake (as it is)", way: { wake: "all", look: "apart", pollSeconds: 1 } },
	{ name: "only those with room wake, poll every 10 s", way: { wake: "free", look: "apart", pollSeconds: 10 } },
	{ name: "and read only what has changed", way: { wake: "free", look: "apart", pollSeconds: 10, reads: "changed" } },
];

const constants: Constants = { ...MEASURED, ...(values.rtt === undefined ? {} : { rttMs: Number(values.rtt) }) };
const quicker = Number(values.faster);
for (const key of ["base", "host", "claim", "started", "end", "heartbeat"] as const) {
	const cost: Cost = constants[key];
	constants[key] = { ...cost, ms: cost.ms / quicker };
}

console.log(
	"| fleet | way | lock busy | starts/s of wanted | wait p50 / p99 | end → next start p50 / p99 | looks | beside | WAL | events |",
);
console.log("|---|---|---|---|---|---|---|---|---|---|");
const isOne = values.hosts !== undefined || values.runs !== undefined || values["run-seconds"] !== undefined;
if (isOne) print(one, `${values.wake}, ${values.look}`);
else for (const { name, way } of WAYS) for (const size of SIZES) print({ ...one, ...size, ...way }, name);

function print(fleet: Fleet, way: string): void {
	const found: Outcome = play(fleet, constants);
	const ms = ({ p50, p99 }: { p50: number; p99: number }) => `${time(p50)} / ${time(p99)}`;
	const cells = [
		`${fleet.hosts.toLocaleString("en")} hosts, ${fleet.runs.toLocaleString("en")} runs of ${fleet.runSeconds} s`,
		way,
		`${Math.round(found.busy * 100)} %`,
		`${found.startsPerSecond.toFixed(1)} of ${found.wantedPerSecond.toFixed(1)}`,
		ms(found.waitMs),
		ms(found.gapMs),
		`${Math.round(found.looks * 100)} %`,
		`${found.beside.toFixed(2)} cores`,
		`${found.walMbPerSecond.toFixed(1)} MB/s`,
		`${found.eventGbPerDay.toFixed(1)} GB/day`,
	];
	console.log(`| ${cells.join(" | ")} |`);
}

function time(ms: number): string {
	return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
