// Settings of a host that shares its store: where each belongs, and that set and unset change the right place.

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { SILENT } from "../../contracts/log.ts";
import { DEFAULTS, readConfig } from "../../core/config.ts";
import { localHost } from "../../host/local.ts";
import { openScheduler } from "../../open.ts";
import { openConfigFile } from "./file.ts";
import { isShared, missingRepos, shareConfig, unusedKeys } from "./shared.ts";

test.each([
	["max_concurrent", true],
	["spawn_delay", true],
	["lanes.code.max", true],
	["lanes.code", true],
	["repos.app.max", true],
	["repos.app.path", false],
	["repos.app", false],
	["accounts.work.home", false],
	["accounts.work.max_api_calls", true],
	["agents", true],
	["agents.mine.command", false],
	["port", false],
	["store", false],
	["hosts.mill.max", true],
])("%s is shared: %s", (key, yes) => expect(isShared(key)).toBe(yes));

test("set and unset: the scheduler's settings in the store, the daemon's in the file", async () => {
	const folder = makeFolder();
	const scheduler = await openScheduler({
		path: ":memory:",
		settings: "shared",
		config: { max_concurrent: 3, lanes: { code: { max: 2 } } },
	});
	onTestFinished(() => scheduler.close());
	const file = openConfigFile({ path: join(folder, "config.yml"), host: localHost, log: SILENT });
	const config = shareConfig(file, scheduler);
	expect(config.get("max_concurrent")).toEqual([{ key: "max_concurrent", value: 3, origin: "store" }]);
	expect(await config.set("lanes.code.max", "7")).toEqual([{ key: "lanes.code.max", value: 7, origin: "store" }]);
	expect(await config.set("spawn_delay", "2s")).toEqual([{ key: "spawn_delay_ms", value: 2000, origin: "store" }]);
	expect(scheduler.config()).toMatchObject({ lanes: { code: { max: 7 } }, spawn_delay_ms: 2000 });
	expect(await config.set("port", "0")).toMatchObject([{ key: "port", value: 0, origin: expect.stringMatching(/^config\.yml/) }]);
	expect(file.get("max_concurrent")[0]?.value).toBe(4);
	expect(await config.unset("lanes.code.max")).toEqual([{ key: "lanes.code.max", value: null, origin: "store" }]);
	expect(await config.unset("spawn_delay")).toEqual([{ key: "spawn_delay_ms", value: 0, origin: "default" }]);
	await config.unset("lanes.code");
	expect(Object.keys(scheduler.config().lanes)).toEqual(["default"]);
	expect(await config.unset("max_concurrent")).toEqual([{ key: "max_concurrent", value: 4, origin: "default" }]);
	await expect(config.set("preset", "loops")).rejects.toMatchObject({ code: "invalid", field: "preset" });
	await expect(config.set("max_concurent", "1")).rejects.toMatchObject({ code: "unknown_key" });
	await expect(config.set("max_concurrent", "-7")).rejects.toMatchObject({ code: "invalid" });
});

test("settings of a file that are ignored, and what the store has to know of its repos", () => {
	const own = readConfig(
		{ max_concurrent: 9, lanes: { code: { max: 2 } }, repos: { app: { max: 1, merge: "mr", prefix: "A" } } },
		DEFAULTS,
	);
	expect(unusedKeys(own, own)).toEqual([]);
	expect(unusedKeys(own, DEFAULTS)).toContain("max_concurrent");
	expect(unusedKeys(own, DEFAULTS)).toContain("lanes.code.max");
	expect(unusedKeys(own, DEFAULTS)).not.toContain("repos.app.merge");
	expect(missingRepos(own, DEFAULTS)).toEqual({ repos: { app: { merge: "mr", prefix: "A" } } });
	expect(missingRepos(own, own)).toBeNull();
});
