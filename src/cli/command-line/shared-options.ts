// Options and arguments that several commands share.

import { STATUSES } from "../../core/job.ts";
import { type ArgSpec, flag, list, type OptionSpec, text } from "../command.ts";

export const ID: ArgSpec = { name: "ID", help: "A job: its number or its name.", take: "one", completes: "job" };
export const IDS: ArgSpec = { ...ID, help: "Jobs: numbers or names.", take: "many" };
export const REASON: OptionSpec = text("reason", "TEXT", "Why; is kept with the event.");
/** Which jobs. */
export const WHERE: readonly OptionSpec[] = [
	text("lane", "NAME", "Only this lane.", { completes: "lane" }),
	text("repo", "NAME", "Only this repo."),
	text("batch", "NAME", "Only this batch."),
];
/** Instead of ids: all jobs that match. */
export const FILTER: readonly OptionSpec[] = [
	...WHERE,
	list("status", "STATUS", "Only with one of these statuses.", { choices: STATUSES }),
	text("owner", "NAME", "Only of this owner."),
	text("agent", "NAME", "Only of this agent."),
	flag("all", "All of them."),
	flag("yes", "Do not ask, if a filter finds several.", { sought: ["force", "y"] }),
];
/** Also the two that only retry has. */
export const FILTER_NAMES: readonly string[] = [...FILTER.map(({ name }) => name).filter((name) => name !== "yes"), "failed", "since"];
/** Jobs, where a filter may stand instead. */
export const SOME_IDS: ArgSpec = { ...ID, help: "Jobs: numbers or names; or give a filter.", take: "any" };
export const SCOPE: readonly OptionSpec[] = [...WHERE, text("account", "NAME", "Only this account.")];
export const SCOPE_NAMES = SCOPE.map((option) => option.name);
