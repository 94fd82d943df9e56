// How `npm run test:agents` runs: the files that start real agent programs, which `npm test` leaves out. They take long to start, so few at a time.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { cacheFolder } from "./install.ts";

// Some of the programs trust nothing that lies below a folder that others can write to, as /tmp is.
const folder = join(cacheFolder(), "tmp");
mkdirSync(folder, { recursive: true, mode: 0o700 });

export default defineConfig({
	test: {
		root: new URL("../..", import.meta.url).pathname,
		include: ["test/agents/**/*.real.ts"],
		env: { TMPDIR: folder },
		pool: "forks",
		maxWorkers: 2,
		testTimeout: 300_000,
		hookTimeout: 300_000,
		teardownTimeout: 10_000,
		globalSetup: ["test/agents/setup.ts"],
	},
});
