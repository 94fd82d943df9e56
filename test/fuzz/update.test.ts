// `apply --update` with every field of a job: the waiting job becomes what a first `apply` of the same manifest would have added.

import { expect, test } from "vitest";
import { INPUT_KEYS } from "../../src/core/schema/job.ts";
import type { JobInput, JobView } from "../../src/index.ts";
import { openStand, type Stand } from "../make/stand.ts";
import { CONFIG, FIELDS } from "./job-fields.ts";

const stand = async (): Promise<Stand> => {
	const t = await openStand({ config: CONFIG, join: { name: "h", labels: ["gpu"] } });
	for (const name of ["first", "second"]) await t.add({ name });
	return t;
};
/** Applies it, and returns the job without what it has waited for so far. */
const applied = async (t: Stand, job: JobInput): Promise<JobView> => {
	const { names } = await t.sluice.apply({ jobs: [{ name: "it", ...job }] }, { update: true });
	const { spec, waited_on: _, ...view } = await t.show(names.it as number);
	return { ...view, spec: { ...spec, applied: "" } };
};

/** The job's name finds it; its item and its parent cannot be changed. A hold is a person's: an update neither sets nor ends it. */
const CHANGEABLE = INPUT_KEYS.filter((key) => !["name", "item", "parent", "hold"].includes(key));

test.each(CHANGEABLE)("%s", async (key) => {
	const { good, with: base = { command: ["make"] } } = FIELDS[key];
	// A job that needs what no job makes would end at once, and an ended job is not updated.
	const whole = { ...base, [key]: good, ...(key === "needs" ? { on_missing: "wait" as const } : {}) };
	const plain: JobInput = { command: ["make"], ...(base.parent === undefined ? {} : { parent: base.parent }) };
	for (const [from, to] of [
		[plain, whole],
		[whole, plain],
	] as const) {
		const [t, fresh] = [await stand(), await stand()];
		await applied(t, from);
		expect(await applied(t, to)).toEqual(await applied(fresh, to));
	}
});
