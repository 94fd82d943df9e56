// verdict and result: what they send, and what they refuse before that.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCommandLine, Refusal } from "../../../test/make/daemons/command-line.ts";

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

test.each([
	[["fail", "- it deletes all users\n- no tests"], { verdict: "fail", text: "- it deletes all users\n- no tests" }],
	[["fail", "--- Review ---"], { verdict: "fail", text: "--- Review ---" }],
	[["ask", "--force or not?"], { verdict: "ask", text: "--force or not?" }],
	[["fail", "-x"], { verdict: "fail", text: "-x" }],
	[["fail", "no:", "--json", "--help", "-q", "--home"], { verdict: "fail", text: "no: --json --help -q --home" }],
	[["fail", "--", "-x", "--", "y"], { verdict: "fail", text: "-x -- y" }],
	[["--", "fail", "-x"], { verdict: "fail", text: "-x" }],
	[["fail", "-5"], { verdict: "fail", text: "-5" }],
	[["fail"], { verdict: "fail" }],
	[["fail", ""], { verdict: "fail" }],
	[["ask", " "], { verdict: "ask" }],
	[["ok", "-"], { verdict: "ok" }],
])("verdict %j: what stands after the verdict is its text", async (words, params) => {
	const line = await openCommandLine(ANSWERS);
	expect(await line.run(["verdict", ...words], INSIDE)).toMatchObject({ code: 0 });
	expect(line.asked).toEqual([{ method: "run.verdict", params }]);
});

test.each([
	[["--json", "verdict", "fail", "-x"]],
	[["verdict", "--json", "fail", "-x"]],
	[["--home", "/h", "--json", "verdict", "fail", "-x"]],
])("%j: options stand before the verdict", async (words) => {
	const line = await openCommandLine(ANSWERS);
	const { code, out, err } = await line.run(words, INSIDE);
	expect({ code, document: JSON.parse(out), err }).toEqual({
		code: 0,
		document: { schema_version: 1, job: 7, verdict: "fail", text: "-x" },
		err: "",
	});
	expect((await line.run(["verdict", "--quiet", "fail", "-x"], INSIDE)).err).toBe("");
	expect((await line.run(["verdict", "--help"], INSIDE)).out).toContain("SLUICE_PRIOR_FILE");
});

test("a text that is too long is cut, with a warning", async () => {
	const line = await openCommandLine(ANSWERS);
	const stdin = (async function* () {
		yield "x".repeat(2_000_000);
	})();
	expect(await line.run("verdict fail -", { ...INSIDE, stdin })).toMatchObject({
		code: 0,
		err: "sluice: the text is 2000000 characters long: it is cut after 10000\njob 7 will end as failed\n",
	});
	expect(line.asked[0]?.params).toEqual({ verdict: "fail", text: `${"x".repeat(9999)}…` });
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
	["result", "the result is missing"],
	["result {a}", "the result is not JSON"],
	[["result", `${"[".repeat(30_000)}${"]".repeat(30_000)}`], "result: nested more than 64 deep"],
	[["result", JSON.stringify("x".repeat(70_000))], "the limit is 65536"],
	[["result", "- a text"], "the result is not JSON"],
	[["result", "--- a text"], "the result is not JSON"],
])("%s is refused before anything is asked", async (text, why) => {
	const line = await openCommandLine(ANSWERS);
	expect(await line.run(text, INSIDE)).toMatchObject({ code: 2, err: expect.stringContaining(why) });
	expect(line.asked).toEqual([]);
});

test("while the daemon is away, the last verdict and the last result are left in the run's folder", async () => {
	const line = await openCommandLine(undefined);
	const folder = join(line.home, "runs/7/2");
	expect(await line.run("verdict fail no", INSIDE)).toMatchObject({
		code: 1,
		err: expect.stringContaining("the daemon cannot be started"),
	});
	mkdirSync(folder, { recursive: true });
	const kept = { code: 0, out: "", err: expect.stringContaining("is kept in the run's folder") };
	expect(await line.run("verdict fail no", INSIDE)).toMatchObject(kept);
	expect(await line.run("result [1]", INSIDE)).toMatchObject(kept);
	expect(await line.run("verdict fail still no", INSIDE)).toMatchObject(kept);
	expect(JSON.parse(readFileSync(join(folder, "said.json"), "utf8"))).toEqual({
		version: 1,
		verdict: { verdict: "fail", text: "still no" },
		result: [1],
	});
	expect(statSync(join(folder, "said.json")).mode & 0o777).toBe(0o600);
	expect(readdirSync(folder)).toEqual(["said.json"]);
});

test("a report that the daemon receives replaces one that was left", async () => {
	const line = await openCommandLine(ANSWERS);
	const folder = join(line.home, "runs/7/2");
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, "said.json"), '{"version":1,"verdict":{"verdict":"fail","text":"no"},"result":1}');
	await line.run("verdict ok", INSIDE);
	expect(JSON.parse(readFileSync(join(folder, "said.json"), "utf8"))).toEqual({ version: 1, result: 1 });
	await line.run("result 2", INSIDE);
	expect(readdirSync(folder)).toEqual([]);
});

test("outside of a run nothing is sent; a run that is over gets an error", async () => {
	const line = await openCommandLine({
		"run.verdict": () => {
			throw new Refusal("this token is not known", { code: "unauthorised", field: "token" });
		},
	});
	expect(await line.run("verdict fail no")).toMatchObject({ code: 2, err: expect.stringContaining("works only inside a run") });
	expect(line.asked).toEqual([]);
	expect(await line.run("verdict fail no", INSIDE)).toMatchObject({ code: 4, err: expect.stringContaining("run 7.2 is over") });
});
