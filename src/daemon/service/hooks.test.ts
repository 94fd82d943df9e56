// Programs that the daemon runs for its user: hooks after a dispatch, and the program that keeps the machine awake.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../test/make/daemons/daemon.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { type Log, SILENT } from "../../contracts/log.ts";
import { localHost } from "../../host/local.ts";
import { createHooks } from "./hooks.ts";
import { keepAwake } from "./keep-awake.ts";

function stand() {
	const said: string[] = [];
	const log: Log = { ...SILENT, warn: (message, fields) => void said.push(`${message} ${JSON.stringify(fields)}`) };
	const cwd = makeFolder();
	return { said, log, cwd, hooks: createHooks({ host: localHost, log, env: () => ({ PATH: process.env.PATH ?? "" }), cwd }) };
}

test("after a dispatch: once for each repo, with its jobs, and no shell between", async () => {
	const { hooks, cwd } = stand();
	hooks.afterDispatch(
		["sh", "-c", 'echo "$SLUICE_JOBS" > "out-$SLUICE_REPO.new"; mv "out-$SLUICE_REPO.new" "out-$SLUICE_REPO"'],
		[
			{ job: 1, repo: "a" },
			{ job: 2, repo: null },
			{ job: 3, repo: "a" },
		],
	);
	await until(() => existsSync(join(cwd, "out-a")) && existsSync(join(cwd, "out-")));
	expect(["out-a", "out-"].map((name) => readFileSync(join(cwd, name), "utf8"))).toEqual(["1 3\n", "2\n"]);
});

test("a hook that fails, or does not exist, is logged and has no other consequence", async () => {
	const { hooks, said } = stand();
	hooks.afterDispatch([], [{ job: 1, repo: null }]);
	hooks.afterDispatch(["sh", "-c", "echo oh no >&2; exit 3"], [{ job: 1, repo: null }]);
	await until(() => said.length === 1);
	hooks.afterDispatch(["no-such-program-anywhere"], [{ job: 1, repo: null }]);
	await until(() => said.length >= 2);
	expect(said[0]).toBe('a hook failed {"hook":"after_dispatch","code":3,"stderr":"oh no"}');
	expect(said[1]).toContain("a hook could not be started");
});

test("the machine is kept awake while that is wanted, by a program that ends with the daemon", async () => {
	const { cwd, log } = stand();
	let wanted = true;
	const awake = keepAwake({ log, wanted: () => wanted, command: ["sh", "-c", `echo $$ > ${cwd}/pid; cat; touch ${cwd}/over`] });
	onTestFinished(() => awake.stop());
	awake.look();
	awake.look();
	await until(() => existsSync(join(cwd, "pid")));
	wanted = false;
	awake.look();
	await until(() => existsSync(join(cwd, "over")));
});

test("where there is no such program, that is logged once", async () => {
	const { said, log } = stand();
	const awake = keepAwake({ log, wanted: () => true, command: ["no-such-program-anywhere"] });
	awake.look();
	await until(() => said.length > 0);
	awake.look();
	expect(said).toHaveLength(1);
	awake.stop();
});
