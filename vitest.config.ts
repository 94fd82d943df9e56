// How the tests run: TypeScript sources as they are, one process for each file, so that a crash or a leaked handle stays in its file.

import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["src/**/*.test.ts", "web/**/*.test.ts", "test/**/*.test.ts", "sim/**/*.test.ts"],
		pool: "forks",
		// Half of the tests wait for processes, the other half computes: two at a time suit two cores.
		maxWorkers: 2,
		testTimeout: 60_000,
		hookTimeout: 60_000,
		teardownTimeout: 10_000,
	},
});
