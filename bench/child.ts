// Runs a compiled program of bench/children/ in a process of its own and reads the one line of JSON that it prints.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

export function runChild<Answer>(name: string, args: readonly string[]): Promise<Answer> {
	const script = fileURLToPath(new URL(`./children/${name}.js`, import.meta.url));
	return new Promise((resolve, reject) => {
		execFile(process.execPath, ["--expose-gc", script, ...args], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
			if (error) reject(new Error(`${name} failed: ${stderr}`, { cause: error }));
			else resolve(JSON.parse(stdout) as Answer);
		});
	});
}
