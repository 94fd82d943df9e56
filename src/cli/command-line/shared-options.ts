// Options and arguments that several commands share.

import type { ArgSpec, OptionSpec } from "../command.ts";

export const ID: ArgSpec = { name: "ID", help: "A job: its number or its name.", take: "one", completes: "job" };
export const IDS: ArgSpec = { ...ID, help: "Jobs: numbers or names.", take: "many" };
export const REASON: OptionSpec = { name: "reason", type: "text", value: "TEXT", help: "Why; is kept with the event." };
export const SCOPE: readonly OptionSpec[] = [
	{ name: "lane", type: "text", value: "NAME", help: "Only this lane.", completes: "lane" },
	{ name: "repo", type: "text", value: "NAME", help: "Only this repo." },
	{ name: "batch", type: "text", value: "NAME", help: "Only this batch." },
	{ name: "account", type: "text", value: "NAME", help: "Only this account." },
];
export const SCOPE_NAMES = SCOPE.map((option) => option.name);
