// A folder of prompts as the gates see it.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeSourceSettings } from "../../test/make/agents/source.ts";
import { makeFolder } from "../../test/make/folder.ts";
import { localHost, systemClock } from "../host/local.ts";
import { openSources } from "./index.ts";

test("an item whose file is removed cannot be read until the file is back: it is not closed", async () => {
	const root = makeFolder();
	const sources = openSources({ host: localHost, clock: systemClock, env: () => ({}) });
	onTestFinished(() => sources.close());
	sources.configure({ todo: makeSourceSettings({ kind: "folder", root }) });
	const seen = async () => (await sources.probe(["item:todo:login"]))["item:todo:login"];
	writeFileSync(join(root, "login.md"), "Fix the login.\n");
	expect(await seen()).toMatchObject({ open: true });
	rmSync(join(root, "login.md"));
	expect(await seen()).toEqual({ error: "there is no item login in source todo" });
	writeFileSync(join(root, "login.md"), "Fix the login.\n");
	expect(await seen()).toMatchObject({ open: true });
});
