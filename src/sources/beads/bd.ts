// Runs the program `bd` for JSON. No shell; its output on failure becomes the error.

import { execFile } from "node:child_process";
import { codeOf, SluiceError } from "../../core/errors.ts";

const LONGEST_MS = 60_000;
/** Maximum bytes of an answer, which is parsed as a whole, like the file. */
const MAX_ANSWER_BYTES = 64_000_000;

export type Bd = {
	/** The answer without its envelope. Null if the program is not installed. */
	ask(args: string[]): Promise<unknown>;
};

export function openBd(root: string, env: () => Record<string, string>, program = "bd"): Bd {
	return {
		ask: (args) =>
			new Promise((resolve, reject) => {
				const variables = { ...env(), BD_JSON_ENVELOPE: "1", BD_DOLT_AUTO_COMMIT: "off" };
				const options = { cwd: root, env: variables, timeout: LONGEST_MS, maxBuffer: MAX_ANSWER_BYTES, killSignal: "SIGKILL" as const };
				const child = execFile(program, args, options, (error, stdout, stderr) => {
					if (codeOf(error) === "ENOENT") return resolve(null);
					if (error) {
						// `bd` prints errors on either stream.
						const said = `${stderr}${stdout}`.trim().slice(-500) || error.message;
						return reject(
							new SluiceError("invalid", `bd ${args[0]}: ${said}`, { field: "source", hint: `see what \`bd ${args[0]}\` says in ${root}` }),
						);
					}
					try {
						resolve(unwrapped(JSON.parse(stdout.trim() || "null")));
					} catch {
						reject(new SluiceError("invalid", `bd ${args[0]}: its answer is not JSON`, { field: "source" }));
					}
				});
				child.stdin?.end();
			}),
	};
}

const unwrapped = (value: unknown): unknown =>
	value !== null && typeof value === "object" && !Array.isArray(value) && "data" in value ? value.data : value;

/** A list of issues, also from a single issue, or from an object that holds the list. */
export function issuesIn(value: unknown): unknown[] {
	if (Array.isArray(value)) return value;
	if (value === null || typeof value !== "object") return [];
	return "issues" in value && Array.isArray(value.issues) ? value.issues : [value];
}
