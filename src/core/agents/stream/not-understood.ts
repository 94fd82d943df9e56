// Output that an adapter does not know: what people read about a run that was not understood.
//
// A newer version of a program may rename or wrap its events. Such a run may have done all of its work, so it is not retried: a second run would cost as much
// and would not be understood either. Nor does it count as done. It waits for a person:
//
//   exit code   what was understood                       outcome
//   0           nothing, or everything but the end        needs_human: a person reads the log and the changes
//   other       nothing                                   crashed, by retry policy; the message says that the output was not understood
//   any         the end                                   as the end says; lines that were not understood are counted (`not_understood`)

import { isOlder, numberOf } from "../version.ts";
import type { Reading } from "./reading.ts";

/** The program of a run, as far as known. */
export type Program = {
	name: string;
	/** The installed version. A version in the output takes precedence. */
	version: string | null;
	/** The version that the adapter was tested with. */
	tested: string | null;
};

/** The question to a person about a run that exited with 0; null if the run was understood or wrote nothing. */
export function notUnderstoodWords(reading: Reading, program: Program | undefined, job: number | undefined): string | null {
	const { not_understood: unknown, other_lines: other } = reading;
	if (reading.events > 0 ? !reading.ends_unknown : unknown + other === 0) return null;
	const lines = reading.events > 0 ? unknown : unknown + other;
	const size = reading.events > 0 ? reading.unknown_bytes : reading.unknown_bytes + reading.other_bytes;
	const what = `it wrote ${lines} ${lines === 1 ? "line" : "lines"} (${sizeWords(size)}) that Sluice does not understand`;
	const how = reading.events > 0 ? ", and did not say that it is done" : "";
	return [`${what}${how}`, versionWords(program, reading.version), whereWords(job)].filter((one) => one !== "").join("; ");
}

/** "claude 2.1.400 is newer than 2.1.326, which Sluice was tested with". */
function versionWords(program: Program | undefined, reported: string | null): string {
	const version = reported ?? program?.version ?? null;
	const name = program?.name ?? "the program";
	const tested = program?.tested ?? null;
	if (version === null) return tested === null ? "" : `Sluice was tested with ${name} ${tested}`;
	const number = numberOf(version);
	if (tested === null) return `this is ${name} ${number}`;
	if (isOlder(tested, version)) return `${name} ${number} is newer than ${tested}, which Sluice was tested with`;
	return number === tested
		? `this is ${name} ${number}, which Sluice was tested with`
		: `this is ${name} ${number}; Sluice was tested with ${tested}`;
}

const whereWords = (job: number | undefined) => (job === undefined ? "" : `see sluice logs ${job} --raw and sluice diff ${job}`);

function sizeWords(bytes: number): string {
	if (bytes < 1000) return `${bytes} B`;
	return bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
