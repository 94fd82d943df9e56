// job.edit: changes a waiting job, with the checks of job.add that need the host: the length of the prompt, the base branch, how to start the program.

import type { JobInput } from "../../../core/job.ts";
import { type At, doc, type Handler, resolve, shown } from "../../call.ts";
import { rfc3339 } from "../../documents.ts";
import { masked } from "../../secrets.ts";
import { mustHaveBase, refuseLongPrompts, startProblems, warned } from "./adding.ts";

type Variables = Record<string, string>;

/** The same input with secret variables masked, and times as they are shown. */
function fieldsDocument(fields: JobInput, { context }: At): JobInput {
	const mask = { names: context.config.settings().secrets };
	const shownFields = { ...fields };
	for (const key of ["env", "vars"] as const) if (fields[key]) shownFields[key] = masked(fields[key], mask);
	for (const key of ["runnable_at", "deadline"] as const) {
		const time = fields[key];
		if (typeof time === "number") shownFields[key] = rfc3339(time);
	}
	return shownFields;
}

/** A variable that comes back as it was shown, masked, keeps its value. The scheduler checks what else it gets. */
function unmasked(now: Variables, before: Variables, { context }: At): Variables {
	if (typeof now !== "object") return now;
	const shownBefore = masked(before, { names: context.config.settings().secrets });
	const meant = (name: string, value: string) => (shownBefore[name] === value ? (before[name] ?? value) : value);
	return Object.fromEntries(Object.entries(now).map(([name, value]) => [name, meant(name, value)]));
}

export const editMethods: { [M in "job.edit"]: Handler<M> } = {
	"job.edit": async ({ id, set: given = {}, unset = [] }, at) => {
		const { scheduler } = at.context;
		const job = await resolve(at.context, id);
		const { agent, repo, spec, after, needs } = await scheduler.show(job);
		// Null is how a form says that a field is empty. A payload may be null.
		const none = Object.keys(given).filter((key) => key !== "payload" && given[key as keyof JobInput] === null);
		const set: JobInput = Object.fromEntries(Object.entries(given).filter(([key]) => !none.includes(key)));
		if (set.env !== undefined) set.env = unmasked(set.env, spec.env ?? {}, at);
		if (set.prompt !== undefined || set.agent !== undefined)
			refuseLongPrompts([{ agent: set.agent ?? agent, prompt: set.prompt ?? spec.prompt } as JobInput], at);
		if (set.repo !== undefined || set.base_branch !== undefined)
			await mustHaveBase({ repo, base_branch: spec.base_branch, after, needs, ...set } as JobInput, at);
		const { changed, fields } = await scheduler.edit(job, { set, unset: [...new Set([...unset, ...none])] }, { by: at.by });
		const problems = changed.some((key) => ["command", "agent", "env", "cwd"].includes(key)) ? startProblems([fields], at) : [];
		return doc({ job: shown(at.context, await scheduler.show(job)), changed, fields: fieldsDocument(fields, at), ...warned(problems) });
	},
};
