// The argv that a profile and a wish make.

import { describe, expect, test } from "vitest";
import { ADAPTERS, profileOf } from "./index.ts";
import { commandLine, FORMATS, PERMISSIONS } from "./profile.ts";

const PROMPT = '--help "Fix" $HOME `date`\n\n- the parser';
const KNOWN = FORMATS.filter((name) => name !== "command");

describe("a built-in agent", () => {
	test.each(KNOWN)("%s gets its prompt through standard input, at first and in a session that goes on", (name) => {
		const { profile } = ADAPTERS[name];
		for (const permission of PERMISSIONS)
			for (const session of [undefined, "5e551011"]) {
				const { argv, stdin } = commandLine(profile, { prompt: PROMPT, permission, session, model: "m", title: "Sluice job 7" });
				expect(stdin).toBe("prompt");
				expect(argv.join("\n")).not.toMatch(/Fix|parser|\{\w+\}/);
				expect(argv.join("\n").includes("5e551011")).toBe(session !== undefined);
			}
	});
});

describe("an agent of the configuration", () => {
	test("with {prompt} in its command gets the prompt as that argument, whatever is in it", () => {
		const profile = profileOf("mine", { mine: { command: ["mine", "--ask={prompt}"] } })!;
		expect(commandLine(profile, { prompt: PROMPT })).toEqual({ argv: ["mine", `--ask=${PROMPT}`], stdin: null });
	});

	test("without it gets it through standard input", () => {
		const profile = profileOf("mine", { mine: { command: ["mine", "--json"] } })!;
		expect(commandLine(profile, { prompt: PROMPT })).toEqual({ argv: ["mine", "--json"], stdin: "prompt" });
	});

	test("may ask for a title of the session", () => {
		const profile = profileOf("mine", { mine: { command: ["mine", "--title={title}"] } })!;
		expect(commandLine(profile, { prompt: PROMPT, title: "Sluice job 7" }).argv).toEqual(["mine", "--title=Sluice job 7"]);
	});
});
