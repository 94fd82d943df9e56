// verdict and result: what they ask, what they refuse before that.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCommandLine, Refusal } from "../../../test/make/command-line.ts";

const INSIDE = { env: { SLUICE_TOKEN: "t", SLUICE_JOB_ID: "7", SLUICE_RUN_ID: "7.2" }, insideOf: () => 7 };
const ANSWERS = {
	"run.verdict": (params: Record<string, unknown>) => ({ job: 7, ...params }),
	"run.result": { job: 7, bytes: 12 },
};

test.each([
	["verdict fail it deletes users", "run.verdict", { verdict: "fail", text: "it deletes users" }, "job 7 will end as failed"],
	["verdict ask which?", "run.verdict", { verdict: "ask", text: "which?" }, "job 7 will ask a person when this run has ended"],
	["verdict ok", "run.verdict", { verdict: "ok" }, "job 7: noted as ok"],
	['result {"a":[1]}', "run.result", { result: { a: [1] } }, "job 7 has its result (12 bytes)"],
])("%s", async (text, method, params, said) => {
	const line = await openCommandLine(ANSWERS);
	expect(await line.run(text, INSIDE)).toEqual({ code: 0, out: "", err: `${said}\n` });
	expect(line.asked).toEqual([{ method, params }]);
});

test("a result from a file and from stdin", async () => {
	const line = await openCommandLine(ANSWERS);
	writeFileSync(join(line.home, "r.json"), '{"from": "file"}');
	await line.run("result --file r.json", INSIDE);
	const stdin = (async function* () {
		yield '"from stdin"';
	})();
	await line.run("result -", { ...INSIDE, stdin });
	expect(line.asked.map(({ params }) => params.result)).toEqual([{ from: "file" }, "from stdin"]);
	expect(await line.run("result --file none.json", INSIDE)).toMatchObject({ code: 2, err: expect.stringContaining("there is no file") });
	expect(await line.run("result 1 --file r.json", INSIDE)).toMatchObject({ code: 2, err: expect.stringContaining("contradict") });
});

test.each([
	["verdict", "VERDICT"],
	["verdict maybe", "must be one of ok, fail, ask"],
	["verdict fail", "needs a text"],
	["verdict ask", "needs a text"],
	["result", "the result is missing"],
	["result {a}", "the result is not JSON"],
])("%s is refused before anything is asked", async (text, why) => {
	const line = await openCommandLine(ANSWERS);
	expect(await line.run(text, INSIDE)).toMatchObject({ code: 2, err: expect.stringContaining(why) });
	expect(line.asked).toEqual([]);
});

test("outside of a run nothing is asked; a run that is over hears so", async () => {
	const line = await openCommandLine({
		"run.verdict": () => {
			throw new Refusal("this token is not known", { code: "unauthorised", field: "token" });
		},
	});
	expect(await line.run("verdict fail no")).toMatchObject({ code: 2, err: expect.stringContaining("works only inside a run") });
	expect(line.asked).toEqual([]);
	expect(await line.run("verdict fail no", INSIDE)).toMatchObject({ code: 4, err: expect.stringContaining("run 7.2 is over") });
});
