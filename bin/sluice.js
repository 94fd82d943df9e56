#!/usr/bin/env node
// The `sluice` command. So far a signpost: version, help, and the demo.

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const HELP = `Sluice is a scheduler for coding agents: it decides when each one runs, and says why the others wait. This version is a library:
import { openScheduler } from "sluice". The command line comes later; until then there are \`sluice demo\` (in a built checkout),
\`sluice --version\` and \`sluice --help\`.`;

function refuse(line, code) {
	console.error(`sluice: ${line}`);
	process.exitCode = code;
}

async function main(command) {
	const [major, minor] = process.versions.node.split(".").map(Number);
	if (major < 20 || (major === 20 && minor < 19)) return refuse(`needs Node 20.19 or newer; this is ${process.versions.node}`, 1);

	if (command === "--version") return console.log(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
	if (command === "--help") return console.log(HELP);
	if (command === "demo") {
		const demo = new URL("../dist/scripts/demo.js", import.meta.url);
		if (!existsSync(fileURLToPath(demo))) return refuse("the demo is not built; run `npm run demo` in a checkout", 1);
		return import(demo.href);
	}
	return refuse(`${command === undefined ? "no command given" : `unknown command ${JSON.stringify(command)}`}; see sluice --help`, 2);
}

await main(process.argv[2]);
