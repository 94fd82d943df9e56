// Writes the parts of docs/reference that are made from the source: `node dist/scripts/generate-docs.js`, after a build. A test compares them.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { manifestSchemaText } from "../src/core/input/manifest-schema.ts";
import { configReference } from "./config-reference.ts";
import { mcpReference } from "./mcp-reference.ts";
import { rpcReference } from "./rpc-reference.ts";

// Built, this file is dist/scripts/generate-docs.js.
const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

for (const [path, text] of [
	["docs/reference/config.md", configReference(readFileSync(join(ROOT, "docs/reference/config.md"), "utf8"))],
	["docs/reference/rpc.md", rpcReference()],
	["docs/reference/mcp.md", mcpReference()],
	["docs/reference/manifest.schema.json", manifestSchemaText()],
] as const) {
	writeFileSync(join(ROOT, path), text);
	console.log(`wrote ${path}`);
}
