// The argv made from a profile and the options of a run.

import { describe, expect, test } from "vitest";
import { ADAPTERS, profileOf } from "./index.ts";
import { AGENT_NAMES, commandLine, PERMISSIONS } from "./profile.ts";

const PROMPT = '--help "Fix" $HOME `date`\n\n- the parser';

describe("a built-in agent", () => {
	test.each(AGENT_NAMES)("%s gets its prompt on standard input, in a new and in a resumed session", (name) => {
		const { profile } = ADAPTERS[name];
		for (const permission of PERMISSIONS)
			for (const session of [undefined, "5e551011"]) {
				const { argv, stdin } = commandLine(profile, { prompt: PROMPT, permission, session, model: "m", title: "Sluice job 7" });
				expect(stdin).toBe("prompt");
				expect(argv.join("\n")).not.toMatch(/Fix|parser|\{\w+\}/);
				expect(argv.join("\n").includes("5e551011")).toBe(session !== undefined);
			}
	});

	test.each(AGENT_NAMES)("%s gets the options of permission full at that permission alone", (name) => {
		const { profile } = ADAPTERS[name];
		const [ask, edit, full] = PERMISSIONS.map((permission) => commandLine(profile, { prompt: PROMPT, permission }).argv);
		const options = profile.permissions.full;
		expect(options.length).toBeGreaterThan(0);
		expect(full).toEqual(expect.arrayContaining([...options]));
		const last = options.at(-1);
		for (const other of [ask, edit]) expect(other).not.toContain(last);
	});
});

describe("a configured agent", () => {
	test("with {prompt} in its command gets the prompt as that argument, whatever is in it", () => {
		const profile = profileOf("mine", { mine: { command: ["mine", "--ask={prompt}"] } })!;
		expect(commandLine(profile, { prompt: PROMPT })).toEqual({ argv: ["mine", `--ask=${PROMPT}`], stdin: null });
	});

	test("without {prompt} gets it on standard input", () => {
		const profile = profileOf("mine", { mine: { command: ["mine", "--json"] } })!;
		expect(commandLine(profile, { prompt: PROMPT })).toEqual({ argv: ["mine", "--json"], stdin: "prompt" });
	});

	test("may use a title for the session", () => {
		const profile = profileOf("mine", { mine: { command: ["mine", "--title={title}"] } })!;
		expect(commandLine(profile, { prompt: PROMPT, title: "Sluice job 7" }).argv).toEqual(["mine", "--title=Sluice job 7"]);
	});
});
