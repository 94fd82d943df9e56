// A job's field values as text: in the form in which an option would take them, never as JSON.

import { conditionText } from "../../core/fact.ts";
import type { After, Condition, Lock } from "../../core/job.ts";
import { durationWords } from "../times.ts";
import { plain } from "./print.ts";
import { printable, shellWord } from "./sequences.ts";

type Words = (value: never) => string;

const joined = <T>(each: (one: T) => string): Words => ((list: T[]) => list.map(each).join(", ")) as Words;
const detail: Words = ({ detail: words }: { detail: string }) => words;

const WORDS: Record<string, Words> = {
	after: joined(({ job, policy }: After) => (policy === "success" ? String(job) : `${job}:${policy}`)),
	locks: joined(({ key, mode }: Lock) => (mode === "shared" ? `${key}:shared` : key)),
	conditions: joined((condition: Condition) => conditionText(condition)),
	command: ((argv: string[]) => argv.map(shellWord).join(" ")) as Words,
	wait_reason: detail,
	held: detail,
	pinned_head: (({ branch, commit }: { branch: string; commit: string }) => `${branch}@${commit.slice(0, 12)}`) as Words,
	timeout: ((ms: number) => durationWords(ms)) as Words,
	stall_timeout: ((ms: number) => durationWords(ms)) as Words,
	vars: ((vars: Record<string, string>) => pairsOf(vars, "=")) as Words,
	env: ((env: Record<string, string>) => pairsOf(env, "=")) as Words,
};

const pairsOf = (value: object, between: string): string =>
	Object.entries(value)
		.filter(([, one]) => one !== null && one !== undefined)
		.map(([key, one]) => `${key}${between}${wordsOf(one)}`)
		.join(", ");

function wordsOf(value: unknown): string {
	if (Array.isArray(value)) return value.map(wordsOf).join(", ");
	return value !== null && typeof value === "object" ? pairsOf(value, " ") : plain(value);
}

/** A document of another version may have another form: then its values are listed one by one. */
export function fieldWords(field: string, value: unknown): string {
	if (value === null || value === undefined) return "";
	if (field === "payload") return plain(value);
	try {
		const known = WORDS[field];
		if (known) return printable(known(value as never));
	} catch {
		// An unexpected form: use the generic text below.
	}
	return printable(wordsOf(value));
}
