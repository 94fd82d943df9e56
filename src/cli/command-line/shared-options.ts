// Options and arguments that several commands share.

import { type ArgSpec, type OptionSpec, text } from "../command.ts";

export const ID: ArgSpec = { name: "ID", help: "A job: its number or its name.", take: "one", completes: "job" };
export const IDS: ArgSpec = { ...ID, help: "Jobs: numbers or names.", take: "many" };
export const REASON: OptionSpec = text("reason", "TEXT", "Why; is kept with the event.");
/** Which jobs. */
export const WHERE: readonly OptionSpec[] = [
	text("lane", "NAME", "Only this lane.", { completes: "lane" }),
	text("repo", "NAME", "Only this repo."),
	text("batch", "NAME", "Only this batch."),
];
export const SCOPE: readonly OptionSpec[] = [...WHERE, text("account", "NAME", "Only this account.")];
export const SCOPE_NAMES = SCOPE.map((option) => option.name);
