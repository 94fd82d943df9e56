#!/usr/bin/env node
// The `sluice` command: checks that Node is new enough, then hands over to the bundle.

import { existsSync } from "node:fs";
import * as module from "node:module";

const [major, minor] = process.versions.node.split(".").map(Number);
const bundle = new URL("../dist/cli.js", import.meta.url);

function refuse(line) {
	process.stderr.write(`sluice: ${line}\n`);
	process.exitCode = 1;
}

if (major < 20 || (major === 20 && minor < 19)) refuse(`needs Node 20.19 or newer; this is ${process.versions.node}`);
else if (!existsSync(bundle)) refuse("is not built: run `npm run build` in the checkout");
else {
	// Where Node can (22.8 and newer), compiled code is kept for the next call.
	module.enableCompileCache?.();
	await import(bundle.href);
}
