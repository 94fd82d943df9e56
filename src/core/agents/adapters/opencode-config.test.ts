// The configuration that opencode gets in its environment. test/agents/permissions.real.ts shows that the real program obeys it.

import { describe, expect, test } from "vitest";
import { type OpencodeRules, opencodeConfig, opencodePermission } from "./opencode-config.ts";

/** Matches like opencode: the last matching rule wins. `?` is any character, `*` any number of them, ` *` at the end may be missing. */
function asks(rules: OpencodeRules, tool: string, what: string): string {
	const fits = (pattern: string, text: string) => {
		const source = pattern
			.replace(/[.+^${}()|[\]\\]/g, "\\$&")
			.replaceAll("*", ".*")
			.replaceAll("?", ".");
		return new RegExp(`^${source.endsWith(" .*") ? `${source.slice(0, -3)}( .*)?` : source}$`, "s").test(text);
	};
	const list = Object.entries(rules).flatMap(([key, rule]) =>
		Object.entries(typeof rule === "string" ? { "*": rule } : rule).map(([pattern, action]) => ({ key, pattern, action })),
	);
	return list.findLast(({ key, pattern }) => fits(key, tool) && fits(pattern, what))?.action ?? "ask";
}

describe("the rules of a permission mode", () => {
	test.each([
		["read", "src/a.ts", "allow", "allow"],
		["read", ".env", "deny", "deny"],
		["read", ".env.example", "allow", "allow"],
		["grep", "TODO", "allow", "allow"],
		["edit", "src/a.ts", "deny", "allow"],
		["edit", "opencode.json", "deny", "deny"],
		["edit", "web/opencode.jsonc", "deny", "deny"],
		["edit", ".opencode/plugin/x.js", "deny", "deny"],
		["bash", "rm -rf .", "deny", "deny"],
		["bash", "git commit -m x", "deny", "allow"],
		["bash", "git commit", "deny", "allow"],
		["bash", "git commit-tree", "deny", "deny"],
		["webfetch", "https://example.org", "deny", "deny"],
		["external_directory", "/etc/*", "deny", "deny"],
		["other_server_tool", "*", "deny", "deny"],
		["a_tool_of_tomorrow", "", "deny", "deny"],
		["sluice_job_add", "*", "allow", "allow"],
	])("%s %s: %s at ask, %s at edit", (tool, what, ask, edit) => {
		expect(asks(opencodePermission("ask"), tool, what)).toBe(ask);
		expect(asks(opencodePermission("edit", ["git commit"]), tool, what)).toBe(edit);
		expect(asks(opencodePermission("full"), tool, what)).toBe("allow");
	});

	test("allow edit no command unless it is named", () => {
		expect(asks(opencodePermission("edit"), "bash", "git status")).toBe("deny");
	});
});

describe("the configuration of a run", () => {
	const textOf = (told: ReturnType<typeof opencodeConfig>) => JSON.parse(("text" in told && told.text) || "null");

	test("has the run's own agent, which may delegate only to itself", () => {
		const config = textOf(opencodeConfig({ permission: "edit", agent: "sluice-x1" }));
		expect(config).toMatchObject({ default_agent: "sluice-x1", agent: { "sluice-x1": { mode: "all" } } });
		const { permission } = config.agent["sluice-x1"];
		expect(permission).toMatchObject(opencodePermission("edit"));
		expect(asks(permission, "task", "sluice-x1")).toBe("allow");
		expect(asks(permission, "task", "general")).toBe("deny");
	});

	test("merges with the given configuration, and the run's own settings win", () => {
		const given = JSON.stringify({
			theme: "x",
			default_agent: "wild",
			agent: { wild: {}, "sluice-x1": { permission: "allow" } },
			mcp: { other: { a: 1 } },
		});
		const config = textOf(opencodeConfig({ permission: "ask", agent: "sluice-x1", mcp: { sluice: { b: 2 } }, given }));
		expect(config).toMatchObject({ theme: "x", default_agent: "sluice-x1", mcp: { other: { a: 1 }, sluice: { b: 2 } } });
		expect(Object.keys(config.agent)).toEqual(["wild", "sluice-x1"]);
		expect(config.agent["sluice-x1"].permission.bash).toEqual({ "*": "deny", "?*": "deny" });
	});

	test("is unchanged at full, and if the configuration defines the mode", () => {
		expect(opencodeConfig({ permission: "full", agent: "sluice-x1" })).toEqual({ text: undefined });
		expect(opencodeConfig({ permission: "edit", agent: null })).toEqual({ text: undefined });
		expect(textOf(opencodeConfig({ permission: "full", agent: "sluice-x1", mcp: { sluice: {} } }))).toEqual({ mcp: { sluice: {} } });
	});

	test.each(["{", "[]", "null", "// mine\n{}"])("is refused when what was given cannot be read: %s", (given) => {
		expect(opencodeConfig({ permission: "edit", agent: "sluice-x1", given })).toEqual({
			problem: expect.stringContaining("OPENCODE_CONFIG_CONTENT"),
		});
	});
});
