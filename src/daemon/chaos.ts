// For tests only: SLUICE_CHAOS_STEP=<step>[:n] makes the daemon kill itself with SIGKILL when it reaches that step of a run for the nth time.

import { SluiceError } from "../core/errors.ts";
import { STEPS, type StartStep } from "../supervisor/index.ts";
import { CLONE_STEPS, WORK_STEPS, type WorkStep } from "../workspaces/index.ts";

export function chaosStep(
	wish: string | undefined,
	kill = () => process.kill(process.pid, "SIGKILL"),
): ((step: StartStep | WorkStep) => void) | undefined {
	if (!wish) return undefined;
	const [name = "", count = "1"] = wish.split(":");
	const left = Number(count);
	const all: readonly string[] = [...STEPS, ...WORK_STEPS, ...CLONE_STEPS];
	if (!all.includes(name) || !Number.isInteger(left) || left < 1)
		throw new SluiceError("invalid", `SLUICE_CHAOS_STEP: ${JSON.stringify(wish)} is no step`, {
			hint: `<step>[:n]; steps: ${all.join(", ")}`,
		});
	let seen = 0;
	return (step) => {
		if (step === name && ++seen === left) kill();
	};
}
