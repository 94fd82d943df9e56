// npm run chaos:fleet: rounds of real work on four hosts and one PostgreSQL, all of which die, stop, and lose each other. Exit 1 on any fault.

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { DISTURBANCES, type Disturbance } from "./disturbances.ts";
import { playRound } from "./round.ts";

const BIN = fileURLToPath(new URL("../../../bin/sluice.js", import.meta.url));

function options() {
	try {
		const { values } = parseArgs({
			options: {
				rounds: { type: "string", default: "1" },
				seed: { type: "string", default: "1" },
				jobs: { type: "string", default: "2000" },
				hosts: { type: "string", default: "4" },
				restarts: { type: "string", default: "5" },
				lease: { type: "string", default: "10000" },
				only: { type: "string" },
				daemon: { type: "string" },
			},
		});
		const whole = (name: Exclude<keyof typeof values, "only" | "daemon">): number => {
			const value = Number(values[name]);
			if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} must be a whole number, not "${values[name]}"`);
			return value;
		};
		const only = values.only?.split(",").map((word) => {
			const found = DISTURBANCES.find((one) => one === word);
			if (!found) throw new Error(`--only: there is no "${word}"; there are: ${DISTURBANCES.join(", ")}`);
			return found;
		});
		const [rounds, seed, jobs, hosts, restarts, staleMs] = (["rounds", "seed", "jobs", "hosts", "restarts", "lease"] as const).map(
			whole,
		) as [number, number, number, number, number, number];
		return { rounds, seed, jobs, hosts, restarts, staleMs, daemon: values.daemon, ...(only ? { only: only as Disturbance[] } : {}) };
	} catch (error) {
		console.error(`chaos: ${error instanceof Error ? error.message : String(error)}`);
		process.exit(2);
	}
}

const { rounds, seed, daemon, ...rest } = options();
let bad = 0;
for (let round = 0; round < rounds; round++) {
	const report = await playRound({
		...rest,
		seed: seed + round,
		daemon: daemon === undefined ? [BIN, "up", "--port", "0"] : [daemon],
		say: (line) => console.log(line),
	});
	const { faults, folder, seconds, harms, figures, highest } = report;
	const count = (what: string) => harms.filter((harm) => harm.what === what).length;
	const done = DISTURBANCES.filter((what) => count(what) > 0).map((what) => `${what} ${count(what)}`);
	console.log(`round ${round + 1} (seed ${seed + round}) ${faults.length > 0 ? `BAD, kept in ${folder}` : "ok"}: ${Math.round(seconds)} s`);
	console.log(`  done to hosts: ${done.join(", ")}`);
	console.log(
		`  ${Object.entries(figures)
			.map(([name, n]) => `${name.replaceAll("_", " ")} ${n}`)
			.join(", ")}`,
	);
	console.log(`  most at once, by the store ${JSON.stringify(highest.store)}, by the programs ${JSON.stringify(highest.programs)}`);
	for (const fault of faults.slice(0, 30)) console.log(`  ${fault}`);
	if (faults.length > 0) bad++;
}
console.log(`chaos: ${rounds} rounds of a fleet, ${bad} bad`);
process.exitCode = bad > 0 ? 1 : 0;
