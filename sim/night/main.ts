// Plays nights and says what came of them: node dist/sim/night/main.js [--seed FIRST] [--nights N] [--json]

import { readArguments, wholeNumber } from "../../scripts/arguments.ts";
import { NIGHT, type NightReport, playNight } from "./night.ts";

const values = readArguments("night", {
	seed: { type: "string", default: "1" },
	nights: { type: "string", default: "1" },
	json: { type: "boolean", default: false },
});
const first = wholeNumber("night", "seed", values.seed, 0);
const nights = wholeNumber("night", "nights", values.nights, 1);

const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
const tokens = (count: number) => `${(count / 1e6).toFixed(2)} M`;

function faults(report: NightReport): string[] {
	return [
		...(report.utilisation < 0.95 ? [`only ${percent(report.utilisation)} of the quota was used`] : []),
		...(report.burned > 0 ? [`${report.burned} retries were burned`] : []),
		...(report.startedInHold > 0 ? [`${report.startedInHold} starts during a hold`] : []),
		...(report.closestMs !== null && report.closestMs < 1000 ? [`two starts ${report.closestMs} ms apart after a limit`] : []),
		...(report.mostAtReset > NIGHT.accounts.length ? [`${report.mostAtReset} starts in the second after a reset`] : []),
	];
}

function tell(seed: number, report: NightReport): void {
	console.log(`night ${seed}: ${report.done} of ${report.jobs} jobs done in ${NIGHT.hours} h, ${report.starts} starts`);
	for (const { name, allowed, used } of report.accounts)
		console.log(`  ${name.padEnd(8)} ${tokens(used)} of ${tokens(allowed)} tokens, ${percent(used / allowed)}`);
	console.log(`  quota used                    ${percent(report.utilisation)}`);
	console.log(`  retries burned on limits      ${report.burned}, with ${report.limited} limits and ${report.throttled} short 429s`);
	console.log(`  starts during a hold          ${report.startedInHold}; with nothing left to use: ${report.startedInVain}`);
	console.log(`  closest starts after a limit  ${report.closestMs ?? "–"} ms; in the second after a reset: ${report.mostAtReset}`);
	console.log(`  sessions that went on         ${report.resumed}; begun afresh elsewhere: ${report.afresh}`);
}

let bad = 0;
for (let seed = first; seed < first + nights; seed++) {
	const report = await playNight({ ...NIGHT, seed });
	if (values.json) console.log(JSON.stringify({ seed, ...report }));
	else tell(seed, report);
	for (const fault of faults(report)) {
		bad++;
		console.error(`  night ${seed}: ${fault}`);
	}
}
process.exitCode = bad > 0 ? 1 : 0;
