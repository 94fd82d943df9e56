// npm run chaos: rounds of real work under a daemon that dies at random and at every named step. One summary line last; exit 1 on any fault.

import { parseArgs } from "node:util";
import { chaosStep } from "../src/daemon/chaos.ts";
import { STEPS } from "../src/supervisor/context.ts";
import { playRound } from "./round.ts";

function options(): { rounds: number; seed: number; jobs: number; kills: number; step: string | undefined } {
	try {
		const { values } = parseArgs({
			options: {
				rounds: { type: "string", default: "100" },
				seed: { type: "string", default: "1" },
				jobs: { type: "string", default: "40" },
				kills: { type: "string", default: "3" },
				step: { type: "string" },
			},
		});
		const whole = (name: keyof typeof values): number => {
			const value = Number(values[name]);
			if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} must be a whole number, not "${values[name]}"`);
			return value;
		};
		// Refused here rather than by each daemon.
		try {
			chaosStep(values.step);
		} catch {
			throw new Error(`--step: "${values.step}" is not NAME[:N]; names: ${STEPS.join(", ")}`);
		}
		return { step: values.step, rounds: whole("rounds"), seed: whole("seed"), jobs: whole("jobs"), kills: whole("kills") };
	} catch (error) {
		console.error(`chaos: ${error instanceof Error ? error.message : String(error)}`);
		process.exit(2);
	}
}

/** Every other round the first daemon dies at a named step, the nth time that it comes by. Three runs of a round are stopped, so some steps come seldom. */
function stepOf(n: number): string {
	const step = STEPS[n % STEPS.length] as (typeof STEPS)[number];
	const often = !["stop-asked", "stop-signalled", "clearing"].includes(step);
	return `${step}:${1 + (Math.floor(n / STEPS.length) % (often ? 5 : 2))}`;
}

const { rounds, seed, jobs, kills, step: wanted } = options();
let bad = 0;
let killed = 0;
let alive = 0;
for (let round = 0; round < rounds; round++) {
	const step = wanted ?? (round % 2 === 0 ? stepOf(round / 2) : undefined);
	const report = await playRound({ seed: seed + round, jobs, kills, step });
	killed += report.kills;
	alive += report.alive;
	if (report.faults.length > 0) {
		bad++;
		console.log(`round ${round + 1} (seed ${seed + round}${step ? `, step ${step}` : ""}) BAD, kept in ${report.home}`);
		for (const fault of report.faults.slice(0, 20)) console.log(`  ${fault}`);
	} else
		console.log(
			`round ${round + 1} (seed ${seed + round}${step ? `, step ${step}` : ""}) ok: ${report.kills} kills, ${report.alive} runs alive at them`,
		);
}
console.log(`chaos: ${rounds} rounds, ${killed} kills of the daemon with ${alive} runs alive, ${bad} bad`);
process.exitCode = bad > 0 ? 1 : 0;
