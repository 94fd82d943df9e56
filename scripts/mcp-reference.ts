// docs/reference/mcp.md as text, made from the list of tools: what is printed there cannot differ from what agents are offered.

import { METHODS } from "../src/api/protocol.ts";
import { methodOf, TOOLS } from "../src/mcp/tools.ts";

const INTRO = `# MCP

<!-- Made by scripts/generate-docs.ts from src/mcp/tools.ts and src/api/protocol.ts: change it there. -->

\`sluice mcp\` serves these tools over stdin and stdout. Register it once:

| program | how |
|---|---|
| Claude Code | \`claude mcp add --scope user sluice -- sluice mcp\` |
| Codex | \`codex mcp add sluice -- sluice mcp\`; for runs also, below \`[mcp_servers.sluice]\` in \`~/.codex/config.toml\`: \`env_vars = ["SLUICE_HOME", "SLUICE_SOCKET", "SLUICE_TOKEN", "SLUICE_JOB_ID"]\` |
| Gemini CLI | \`gemini mcp add --scope user sluice sluice mcp --env 'SLUICE_TOKEN=$SLUICE_TOKEN'\`, in folders that it trusts |

A tool is a [method](rpc.md) under its own name, with an underscore; \`run_fail\` and \`run_ask\` are both \`run.verdict\`. It takes the same parameters, and answers with the same document as structured content, and with
a line or two of text. Three things differ, for the sake of a reader that pays by the word:

- In a job, and in what stands in lists, fields that are null or empty are left out.
- What is longer than about 40,000 characters is cut; \`note\` says how to get the rest.
- \`job_logs\` begins at the end of a log, and gives an agent's JSON lines as text.

An error is the tool's: \`{schema_version, error: {code, message, hint, field?}}\`, with the [codes](errors.md) of every other interface.

**Inside a run** of Sluice the server asks that run's daemon with the run's token: it may look, wait and add, and what it adds are children of the run's job. \`when: now\` starts beside the
run, also where children wait for their parents. With \`run_fail\`, \`run_ask\` and \`run_result\` a run [speaks of itself](../verdicts.md). \`when: after_this_job\` starts once the job has succeeded; do not wait for such a one. Outside of a run it is the operator, and is recorded as
\`mcp:<user>\`.
`;

const yes = (is: boolean) => (is ? "yes" : "no");

export function mcpReference(): string {
	const rows = TOOLS.map(({ name, annotations }) => {
		const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
		const hints = [readOnlyHint, destructiveHint, idempotentHint, openWorldHint].map(yes).join(" | ");
		return `| [\`${name}\`](#${name}) | ${annotations.title} | ${hints} |`;
	});
	const sections = TOOLS.map(({ name, description, inputSchema }) => {
		const method = methodOf(name)?.method as keyof typeof METHODS;
		const own = Object.keys(METHODS[method].params);
		const named = Object.keys(inputSchema.properties).filter((field) => method !== "job.add" || own.includes(field) || field === "when");
		const fields = named.map((field) => `\`${field}\`${inputSchema.required?.includes(field) ? "" : "?"}`);
		const takes = [...fields, ...(method === "job.add" ? ["every field of a job's input"] : [])];
		return [`### ${name}`, "", description, "", takes.length > 0 ? `Takes ${takes.join(", ")}. ` : "Takes nothing. "].join("\n").trimEnd();
	});
	const table = [
		"## Tools",
		"",
		"| tool | title | reads only | destroys | idempotent | open world |",
		"|---|---|---|---|---|---|",
		...rows,
	];
	return `${[INTRO, table.join("\n"), ...sections]
		.join("\n\n")
		.replace(/\n{3,}/g, "\n\n")
		.trimEnd()}\n`;
}
