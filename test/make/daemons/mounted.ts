// A small disk of the test's own, where the system lets us mount one: it can be full, or read-only.

import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const run = (...argv: string[]) => spawnSync(argv[0] as string, argv.slice(1), { encoding: "utf8" });

export type SmallDisk = { fill(): void; free(): void; readOnly(): void };

/** Null when it cannot be had: it takes root. */
export function mountSmallDisk(folder: string, size: string): SmallDisk | null {
	if (process.platform !== "linux" || process.getuid?.() !== 0) return null;
	if (run("mount", "-t", "tmpfs", "-o", `size=${size},mode=0700`, "tmpfs", folder).status !== 0) return null;
	onTestFinished(() => void run("umount", "--lazy", folder));
	const filler = join(folder, "filler");
	return {
		fill() {
			for (let size = 1 << 20; size >= 1; size >>= 1)
				for (;;)
					try {
						writeFileSync(filler, Buffer.alloc(size), { flag: "a" });
					} catch {
						break;
					}
		},
		free: () => rmSync(filler, { force: true }),
		/** Only while nobody has a file open for writing. */
		readOnly() {
			const { status, stderr } = run("mount", "-o", "remount,ro", folder);
			if (status !== 0) throw new Error(`${folder} could not be made read-only: ${stderr}`);
		},
	};
}
