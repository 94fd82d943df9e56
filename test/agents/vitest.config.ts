// How `npm run test:agents` runs: the files that start real agent programs, which `npm test` leaves out. They take long to start, so few at a time.

import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		root: new URL("../..", import.meta.url).pathname,
		include: ["test/agents/**/*.real.ts"],
		pool: "forks",
		maxWorkers: 2,
		testTimeout: 300_000,
		hookTimeout: 300_000,
		teardownTimeout: 10_000,
		reporters: ["default", new URL("./table.ts", import.meta.url).pathname],
	},
});
