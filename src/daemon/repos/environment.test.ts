// Whether a job has left a patch depends on its last attempt.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { localDisk } from "../../host/disk.ts";
import { hasPatch } from "./environment.ts";

test("the patch of an earlier attempt does not count", () => {
	const folder = join(makeFolder(), "7");
	expect(hasPatch(localDisk, folder)).toBe(false);
	for (const attempt of ["2", "10"]) mkdirSync(join(folder, attempt), { recursive: true });
	writeFileSync(join(folder, "2/output.patch"), "x");
	expect(hasPatch(localDisk, folder)).toBe(false);
	writeFileSync(join(folder, "10/output.patch"), "x");
	expect(hasPatch(localDisk, folder)).toBe(true);
});
