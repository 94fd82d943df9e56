#!/usr/bin/env node
// The `sluice` command: checks that Node is new enough, then hands over to the bundle. CommonJS, like the bundle: Node's loader of ES modules alone
// would cost as much as everything else that `sluice add` does (bundle.mjs has the numbers).

const { existsSync } = require("node:fs");
const nodeModule = require("node:module");
const { join } = require("node:path");

const [major, minor] = process.versions.node.split(".").map(Number);
const bundle = join(__dirname, "../dist/cli.cjs");

function refuse(line) {
	process.stderr.write(`sluice: ${line}\n`);
	process.exitCode = 1;
}

if (major < 20 || (major === 20 && minor < 19)) refuse(`needs Node 20.19 or newer; this is ${process.versions.node}`);
else if (!existsSync(bundle)) refuse("is not built: run `npm run build` in the checkout");
else {
	// Where Node can (22.8 and newer), compiled code is kept for the next call.
	nodeModule.enableCompileCache?.();
	require(bundle);
}
