// Fields of a recipe that are checked when the recipe is read, so that the error names step and key: the job would refuse them later without either. Pure.

import * as check from "../input/check.ts";
import type { JobInput } from "../job.ts";
import { JOB, keysMarked } from "../schema/job.ts";

const CHECKED = keysMarked("recipe").filter((key) => JOB[key].kind === "choice" || key === "allow");
const STRICT = keysMarked("strict");

/** A value with `{{…}}` is known only when the job is added. */
const hasVariable = (value: unknown): boolean => JSON.stringify(value).includes("{{");

/** Checks values that contain no variable. `at` gives a key its full name: `steps.build.expect`. */
export function checkFields(template: JobInput, at: (key: string) => string): void {
	for (const key of CHECKED) if (template[key] !== undefined && !hasVariable(template[key])) JOB[key].read(template[key], at(key));
}

/** `expect` and `allow` are for agents: the exit code of a command says how it went. */
export function refuseForCommands(template: JobInput, at: (key: string) => string): void {
	if (template.command === undefined) return;
	for (const key of STRICT)
		if (template[key] !== undefined) throw check.wrong(at(key), "is for agents, and this runs a command", "leave it out");
}
