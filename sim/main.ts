// The simulator: node dist/sim/main.js --seeds N [--seed FIRST] [--steps N] [--shrink] [--parallel P] [--marks] [--thorough] [--postgres] [--fleet]

import { readArguments, wholeNumber } from "../scripts/arguments.ts";
import { DEFAULTS, PRESETS } from "../src/core/config.ts";
import { openPostgresPlaces } from "./engine/place.ts";
import { EXPECTED, FLEET_MARKS, Marks } from "./marks.ts";
import { same } from "./model/agree.ts";
import type { Plan } from "./operation.ts";
import { type Hearer, type Share, shareOut } from "./parallel.ts";
import { type Failure, planOf, runSeed, type SeedOptions } from "./run-seed.ts";
import { shrink } from "./shrink.ts";

/** From this many seeds on, every mark must have been reached. */
const ENOUGH = 300;
/** After so many seeds a long run tells how far it is. */
const NEWS = 500;

const values = readArguments("sim", {
	seeds: { type: "string", default: "100" },
	seed: { type: "string", default: "1" },
	steps: { type: "string" },
	shrink: { type: "boolean", default: false },
	parallel: { type: "string", short: "j", default: "1" },
	jobs: { type: "string" },
	marks: { type: "boolean", default: false },
	thorough: { type: "boolean", default: false },
	postgres: { type: "boolean", default: false },
	fleet: { type: "boolean", default: false },
	skip: { type: "string", multiple: true, default: [] },
	show: { type: "boolean", default: false },
	share: { type: "boolean", default: false },
	"stop-after": { type: "string", default: "10" },
});
const whole = (name: "seeds" | "seed" | "steps" | "parallel" | "jobs" | "stop-after", least = 1) =>
	wholeNumber("sim", name, values[name] ?? "", least);

const options: SeedOptions = {
	thorough: values.thorough,
	fleet: values.fleet,
	skip: values.skip,
	...(values.steps === undefined ? {} : { steps: whole("steps") }),
};

/** One server a process, for all of its seeds. */
const places = values.postgres && !values.show ? await openPostgresPlaces() : undefined;
if (places) options.place = places.place;

const expected = values.fleet ? FLEET_MARKS : EXPECTED;

const describe = (failure: Failure) => `seed ${failure.seed}, step ${failure.step}, ${failure.message}`;

/** One process's share of the seeds, told to the parent or to the terminal. */
async function runShare(first: number, count: number, step: number, stopAfter: number, tell: Hearer): Promise<Share> {
	const marks = new Marks();
	let steps = 0;
	let bad = 0;
	let done = 0;
	for (let seed = first; seed < first + count * step && bad < stopAfter; seed += step) {
		const verdict = await runSeed(seed, options);
		steps += verdict.steps;
		done += 1;
		marks.merge(verdict.marks.counts);
		tell.went(1);
		if (verdict.failure === undefined) continue;
		bad += 1;
		tell.failed(verdict.failure);
	}
	return { seeds: done, steps, bad, marks: [...marks.counts] };
}

async function explain(failure: Failure): Promise<void> {
	const plan = planOf(failure.seed, options);
	const smaller = await shrink(plan, failure.message, options, (left) => process.stderr.write(`\rshrinking: ${left} operations left   `));
	process.stderr.write("\n");
	console.log(`seed ${failure.seed} shrunk to ${smaller.plan.ops.length} operations: ${smaller.message}`);
	print(smaller.plan);
}

function print(plan: Plan): void {
	const base = plan.preset === undefined ? DEFAULTS : PRESETS[plan.preset];
	const changed = Object.entries(plan.config).filter(([key, value]) => !same(value, base[key as keyof typeof base]));
	console.log(
		`preset ${plan.preset ?? "none"}, hosts ${JSON.stringify(plan.hosts)}, config ${JSON.stringify(Object.fromEntries(changed))}`,
	);
	for (const op of plan.ops) console.log(`  ${JSON.stringify(op)}`);
}

async function main(): Promise<void> {
	const began = performance.now();
	const first = whole("seed", 0);
	const seeds = whole("seeds");
	const parallel = Math.min(values.jobs === undefined ? whole("parallel") : whole("jobs"), seeds);
	const stopAfter = whole("stop-after");
	if (values.show) return print(planOf(first, options));
	const failures: Failure[] = [];
	let done = 0;
	const tell: Hearer = {
		failed(failure) {
			failures.push(failure);
			if (values.share) process.send?.({ failure });
			else console.log(describe(failure));
		},
		went(count) {
			done += count;
			if (values.share) process.send?.({ done: count });
			else if (done % NEWS === 0 && done < seeds) console.error(`sim: ${done} of ${seeds} seeds, ${failures.length} bad`);
		},
	};
	if (values.share) {
		const share = await runShare(first, seeds, Number(process.env.SIM_STEP ?? "1"), stopAfter, tell);
		process.send?.({ share });
		return;
	}
	const total =
		parallel > 1 ? await shareOut(first, seeds, parallel, process.argv.slice(2), tell) : await runShare(first, seeds, 1, stopAfter, tell);
	const marks = new Marks();
	marks.merge(total.marks);
	if (values.shrink) for (const failure of failures.slice(0, 3)) await explain(failure);
	if (values.marks) console.log(marks.print(expected));
	const missing = seeds >= ENOUGH && total.bad === 0 ? marks.missing(expected) : [];
	if (missing.length > 0) console.log(`never reached: ${missing.join(", ")}`);
	const seconds = ((performance.now() - began) / 1000).toFixed(1);
	console.log(
		`sim: ${total.seeds} seeds, ${total.bad} bad, ${total.steps} steps, ${seconds} s${missing.length > 0 ? `, ${missing.length} marks missing` : ""}`,
	);
	process.exitCode = total.bad > 0 || missing.length > 0 ? 1 : 0;
}

try {
	await main();
} finally {
	await places?.end();
}
