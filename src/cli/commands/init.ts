// sluice init: a first configuration, with comments.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf, messageOf } from "../../core/errors.ts";
import type { Call } from "../command.ts";
import { CliFailure } from "../failure.ts";
import { answer, type Io } from "../io.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const preset = call.choice("preset", ["cards", "town", "dag", "loops", "kernel"]);
	const home = io.world.homeOf(io.home);
	const path = join(home, "config.yml");
	const text = await starter(preset);
	try {
		mkdirSync(home, { recursive: true, mode: 0o700 });
		writeFileSync(path, text, { flag: "wx", mode: 0o600 });
	} catch (error) {
		if (codeOf(error) !== "EEXIST" || !existsSync(path))
			throw new CliFailure("store", `cannot write ${path}: ${messageOf(error)}`, "name another home with --home or SLUICE_HOME");
		throw new CliFailure(
			"conflict",
			`${path} is there already`,
			preset ? `sluice config set preset ${preset} changes it` : "sluice config list shows what is in force",
		);
	}
	answer(io, { schema_version: 1, path, preset: preset ?? null }, () => {
		io.print.out(path);
		io.print.say("try: sluice add -- echo hello, then: sluice status");
	});
}

/** Values of the preset are in comments: the file itself only names the preset, so that its values keep following it. */
export async function starter(preset: "cards" | "town" | "dag" | "loops" | "kernel" | undefined): Promise<string> {
	const { DEFAULTS, PRESETS } = await import("../../core/config.ts");
	const { stringify } = await import("yaml");
	const commented = (value: unknown) =>
		stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
			.trimEnd()
			.split("\n")
			.map((line) => `# ${line}`)
			.join("\n");
	if (preset === undefined)
		return `# Settings of Sluice. Changes count at once; \`sluice config check\` looks for mistakes, docs/reference/config.md has every key.

# How many jobs run at the same time; -1 starts each at once.
max_concurrent: ${DEFAULTS.max_concurrent}

# Classes of work, each with a cap (max) and a base priority.
lanes:
  default: {}
  # code: {max: 2, priority: 100}

# Failed commands are run again so many times.
retry: {max: ${DEFAULTS.retry.max}}
`;
	return `# Settings of Sluice. Changes count at once; \`sluice config check\` looks for mistakes, docs/reference/config.md has every key.

preset: ${preset}

# What it changes; a key that is written here without the # counts instead.
${commented(differences(PRESETS[preset], DEFAULTS))}
`;
}

function differences(value: object, usual: object): Record<string, unknown> {
	const isGroup = (one: unknown): one is Record<string, unknown> => typeof one === "object" && one !== null && !Array.isArray(one);
	const usually: Record<string, unknown> = { ...usual };
	return Object.fromEntries(
		Object.entries(value).flatMap(([key, one]) => {
			if (JSON.stringify(one) === JSON.stringify(usually[key])) return [];
			const inner = isGroup(one) && isGroup(usually[key]) && key !== "lanes" ? differences(one, usually[key]) : one;
			return [[key, inner]];
		}),
	);
}
