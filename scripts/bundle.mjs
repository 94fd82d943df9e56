// Bundles the command and the daemon into a few files each, so that `sluice add` loads little: `node scripts/bundle.mjs [OUT]`, after tsc.
//
//   dist/cli.js          the command; what a single command needs is a chunk of its own
//   dist/daemon.js       the daemon's code, for commands that need it (up, doctor, config check without a daemon)
//   dist/daemon-main.js  the daemon as a program

import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = process.argv[2] ?? join(ROOT, "dist");

rmSync(join(out, "chunks"), { recursive: true, force: true });
await build({
	entryPoints: {
		cli: join(ROOT, "src/cli/main.ts"),
		daemon: join(ROOT, "src/daemon/door.ts"),
		"daemon-main": join(ROOT, "src/daemon/main.ts"),
	},
	outdir: out,
	chunkNames: "chunks/[name]-[hash]",
	bundle: true,
	splitting: true,
	format: "esm",
	platform: "node",
	target: "node20",
	// Has a binary of its own, found from its own folder; loaded only where Node's SQLite is too old.
	external: ["@photostructure/sqlite"],
	// Its modules are CommonJS for Node, which a bundle of ES modules cannot carry; those for browsers are the same code.
	alias: { yaml: join(ROOT, "node_modules/yaml/browser/dist/index.js") },
	banner: { js: "// Built by scripts/bundle.mjs from src/." },
	minifySyntax: true,
	minifyWhitespace: true,
	legalComments: "none",
	logLevel: "warning",
});
