// How the tests run: TypeScript sources as they are, one process for each file, so that a crash or a leaked handle stays in its file.

import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest files, longest first: begun last, one of them would keep one core busy long after the other has nothing left to do. */
const LONG = [
	"sim/sim.test.ts",
	"test/browser/views.test.ts",
	"test/e2e/work-git.test.ts",
	"test/acceptance/on-postgres.test.ts",
	"test/e2e/fleet-chaos.test.ts",
	"test/e2e/url-repos.test.ts",
	"test/docs-examples.test.ts",
	"test/e2e/restore.test.ts",
	"test/e2e/fleet.test.ts",
	"test/e2e/store-loss.test.ts",
	"test/e2e/run-token.test.ts",
	"test/e2e/socket-squat.test.ts",
	"sim/planted.test.ts",
	"test/e2e/planted-git-kinds.test.ts",
];
const rank = ({ moduleId }: TestSpecification) => {
	const found = LONG.findIndex((name) => moduleId.endsWith(name));
	return found < 0 ? LONG.length : found;
};

class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const usual = await super.sort(files);
		return usual
			.map((file, index) => ({ file, index }))
			.sort((a, b) => rank(a.file) - rank(b.file) || a.index - b.index)
			.map(({ file }) => file);
	}
}

export default defineConfig({
	test: {
		include: ["src/**/*.test.ts", "web/**/*.test.ts", "test/**/*.test.ts", "sim/**/*.test.ts"],
		pool: "forks",
		// Half of the tests wait for processes, the other half computes: three at a time keep two cores busy.
		maxWorkers: 3,
		sequence: { sequencer: LongestFirst },
		testTimeout: 60_000,
		hookTimeout: 60_000,
		teardownTimeout: 10_000,
	},
});
