// Agents of a supervised stand: what was recorded of the real programs, played by its pretended processes.

import { readFileSync } from "node:fs";
import { type Supervised, type SupervisedOptions, supervise } from "../supervised.ts";
import { capture } from "./capture.ts";

const ACCOUNTS = { accounts: { work: {} }, lanes: { default: { accounts: ["work"] } } };
export const stand = (more: SupervisedOptions = {}) => supervise({ config: ACCOUNTS, ...more });

/** The run writes what was recorded, perhaps changed, and exits. */
export async function play(on: Supervised, run: string, name: string, change: (text: string) => string = (text) => text): Promise<void> {
	const { stdout, stderr, code } = capture(name);
	on.processes.log(run, "stdout", change(stdout.toString()));
	on.processes.log(run, "stderr", stderr);
	on.processes.exit(run, code);
	await on.settle();
}
export const resetsAt = (at: number) => (text: string) => text.replaceAll(/"resetsAt":\d+/g, `"resetsAt":${at / 1000}`);
export const argvOf = (on: Supervised, run: string) => on.processes.machine.launched.findLast((one) => one.run === run)?.argv ?? [];
export const envOf = (on: Supervised, run: string) => on.processes.machine.launched.findLast((one) => one.run === run)?.env ?? {};

/** What it reads on standard input. */
export function promptOf(on: Supervised, run: string): string {
	const stdin = on.processes.machine.launched.findLast((one) => one.run === run)?.stdin;
	if (stdin === undefined) throw new Error(`run ${run} was given nothing on standard input`);
	return readFileSync(stdin, "utf8");
}

export const held = async (on: Supervised, job: number) => (await on.sluice.why(job)).reasons[0]?.code;
