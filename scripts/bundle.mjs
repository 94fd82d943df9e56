// Bundles the command and the daemon into a few files each, so that `sluice add` loads little: `node scripts/bundle.mjs [OUT]`, after tsc.
//
//   dist/cli.cjs         the command, in one file: nothing of a command runs before it is called
//   dist/daemon.js       the daemon's code, for commands that need it (up, doctor, config check without a daemon)
//   dist/daemon-main.js  the daemon as a program
//   dist/lease-guard.js  ends a host's runs before its lease ends, whatever has become of the daemon
//   dist/mcp.js          the server for agents, for `sluice mcp`; the package that speaks the protocol is loaded from node_modules
//   dist/web/            the dashboard: a page, its code in parts, one file of style
//
// The command is CommonJS: `sluice add -- true` took 22 ms of CPU over bare `node -e 0` that way, 48 ms as ES modules in chunks.

import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = process.argv[2] ?? join(ROOT, "dist");
const BANNER = "// Built by scripts/bundle.mjs from src/.";

const common = {
	bundle: true,
	platform: "node",
	target: "node20",
	minifySyntax: true,
	minifyWhitespace: true,
	legalComments: "none",
	logLevel: "warning",
};

rmSync(join(out, "chunks"), { recursive: true, force: true });
await build({
	...common,
	entryPoints: {
		daemon: join(ROOT, "src/daemon/cli-module.ts"),
		"daemon-main": join(ROOT, "src/daemon/main.ts"),
	},
	outdir: out,
	chunkNames: "chunks/[name]-[hash]",
	splitting: true,
	format: "esm",
	// Loaded only by those who need them, from their own folders: the one has a binary there, the other requires modules as it goes, which a bundle of ES
	// modules cannot.
	external: ["@photostructure/sqlite", "pg"],
	// Its modules are CommonJS for Node, which a bundle of ES modules cannot carry; those for browsers are the same code.
	alias: { yaml: join(ROOT, "node_modules/yaml/browser/dist/index.js") },
	banner: { js: BANNER },
});
await build({
	...common,
	entryPoints: { "lease-guard": join(ROOT, "src/host/lease-guard.ts") },
	outdir: out,
	format: "esm",
	banner: { js: BANNER },
});
await build({
	...common,
	entryPoints: { mcp: join(ROOT, "src/mcp/server.ts") },
	outdir: out,
	format: "esm",
	packages: "external",
	banner: { js: BANNER },
});
await build({
	...common,
	entryPoints: [join(ROOT, "src/cli/main.ts")],
	outfile: join(out, "cli.cjs"),
	format: "cjs",
	// Loaded by the few commands that need it.
	external: ["yaml"],
	define: { "import.meta.url": "moduleUrl", "import.meta.dirname": "__dirname" },
	banner: { js: `${BANNER}\nconst moduleUrl = "file://" + __filename.split("/").map(encodeURIComponent).join("/");` },
});
rmSync(join(out, "web/chunks"), { recursive: true, force: true });
await build({
	entryPoints: { app: join(ROOT, "web/main.tsx"), "graph-worker": join(ROOT, "web/draw/worker.ts") },
	outdir: join(out, "web"),
	// Views other than the first two, with what only they need (charts, graphs, the readers of agents' logs), are loaded when they are opened.
	splitting: true,
	chunkNames: "chunks/[name]-[hash]",
	bundle: true,
	format: "esm",
	target: "es2022",
	minify: true,
	legalComments: "none",
	logLevel: "warning",
	jsx: "automatic",
	jsxImportSource: "preact",
	// The charts ask for it when they are loaded, and one that is no language tag (`en-US@posix`) would end the page there; all words are English anyway.
	plugins: [
		{
			name: "charts speak English",
			setup: ({ onLoad }) =>
				onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path }) => ({
					contents: readFileSync(path, "utf8").replaceAll("nav.language", '"en"'),
					loader: "js",
				})),
		},
	],
	// Its own settings would make relative paths of what they name.
	tsconfigRaw: {},
});
mkdirSync(join(out, "web"), { recursive: true });
await build({
	entryPoints: [join(ROOT, "web/app.css")],
	outfile: join(out, "web/app.css"),
	bundle: true,
	minify: true,
	logLevel: "warning",
});
copyFileSync(join(ROOT, "web/index.html"), join(out, "web/index.html"));
