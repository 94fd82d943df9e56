// Folders of a test's own, gone when it ends.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export function makeFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "sluice-test-"));
	// A run that is just ending may still write into it.
	onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
	return folder;
}
