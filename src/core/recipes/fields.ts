// Fields of a recipe that are checked when the recipe is read, so that the error names step and key: the job would refuse them later without either. Pure.

import { EXPECTS } from "../agents/closing.ts";
import { readAllow } from "../agents/permissions/allowing.ts";
import * as check from "../input/check.ts";
import type { JobInput } from "../job.ts";

const CHOICES = {
	expect: EXPECTS,
	permission: ["ask", "edit", "full"],
	may_add: ["ask", "edit", "full"],
	merge: ["direct", "mr", "local"],
	commit: ["auto", "agent", "never"],
} as const satisfies Partial<Record<keyof JobInput, readonly string[]>>;

/** A value with `{{…}}` is known only when the job is added. */
const hasVariable = (value: unknown): boolean => JSON.stringify(value).includes("{{");

/** Checks values that contain no variable. `at` gives a key its full name: `steps.build.expect`. */
export function checkFields(template: JobInput, at: (key: string) => string): void {
	for (const [key, options] of Object.entries(CHOICES)) {
		const value = template[key as keyof typeof CHOICES];
		if (value !== undefined && !hasVariable(value)) check.oneOf(value, options, at(key));
	}
	if (template.allow !== undefined && !hasVariable(template.allow)) readAllow(template.allow, at("allow"));
}

/** `expect` and `allow` are for agents: the exit code of a command says how it went. */
export function refuseForCommands(template: JobInput, at: (key: string) => string): void {
	if (template.command === undefined) return;
	for (const key of ["expect", "allow"] as const)
		if (template[key] !== undefined) throw check.wrong(at(key), "is for agents, and this runs a command", "leave it out");
}
