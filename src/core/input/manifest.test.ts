// for_each: every form, strict names, and what holds for each; waves.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the manifests' own

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expandAll, wavesOf } from "./manifest.ts";

const jobs = (...given: unknown[]) => expandAll(given).map(({ job }) => job);

describe("for_each", () => {
	test.each([
		["values", ["de", 2, true], ["de", "2", "true"]],
		["entries", [{ item: "de" }, { item: "fr" }], ["de", "fr"]],
	])("a list of %s", (_, for_each, said) => {
		expect(jobs({ for_each, name: "t-${item}", command: ["echo", "in ${item}"] })).toEqual(
			said.map((one) => ({ name: `t-${one}`, command: ["echo", `in ${one}`] })),
		);
	});

	test("a map: by key, with a value or with variables of its own", () => {
		expect(jobs({ for_each: { de: "dry", fr: "warm" }, name: "${key}", title: "${value}" })).toEqual([
			{ name: "de", title: "dry" },
			{ name: "fr", title: "warm" },
		]);
		expect(jobs({ for_each: { de: { tone: "dry" } }, name: "${key}-${tone}" })).toEqual([{ name: "de-dry" }]);
	});

	test("a map of lists: every combination", () => {
		expect(jobs({ for_each: { lang: ["de", "fr"], os: ["a", "b"] }, name: "${lang}.${os}" }).map((job) => job.name)).toEqual([
			"de.a",
			"de.b",
			"fr.a",
			"fr.b",
		]);
	});

	test("text that is one variable becomes its value; $${ stays", () => {
		expect(jobs({ for_each: [{ p: 5 }], priority: "${p}", command: ["sh", "-c", "echo $${HOME} $HOME ${p}"] })).toEqual([
			{ priority: 5, command: ["sh", "-c", "echo ${HOME} $HOME 5"] },
		]);
	});

	test("without for_each nothing is filled in", () => {
		expect(jobs({ command: ["sh", "-c", "echo ${HOME}"] })).toEqual([{ command: ["sh", "-c", "echo ${HOME}"] }]);
	});

	test("a name without variables: one job for each, and after means all of them", () => {
		const found = jobs(
			{ name: "build", for_each: ["de", "fr"], command: ["x", "${item}"] },
			{ name: "join", after: ["build:any", { job: "build", policy: "any" }, "other"] },
		);
		expect(found.map((job) => job.name)).toEqual(["build-de", "build-fr", "join"]);
		expect(found[2]?.after).toEqual([
			"build-de:any",
			"build-fr:any",
			{ job: "build-de", policy: "any" },
			{ job: "build-fr", policy: "any" },
			"other",
		]);
	});

	test.each([
		[{ for_each: [], name: "x" }, "jobs[0].for_each: is empty"],
		[{ for_each: 5 }, "jobs[0].for_each: must be an object"],
		[{ for_each: [null] }, "jobs[0].for_each[0]: must be text, a number"],
		[{ for_each: [{ "a b": 1 }] }, "is not the name of a variable"],
		[{ for_each: { a: [1], b: 2 } }, "has lists beside other values"],
		[{ for_each: ["a"], command: ["${itm}"] }, 'jobs[0].command[0]: there is no variable "itm"'],
		[{ for_each: ["a"], env: { A: "x ${HOME} y" } }, 'jobs[0].env.A: there is no variable "HOME"'],
		[{ for_each: ["a"], prompt: "${" }, 'jobs[0].prompt: there is no variable ""'],
		[{ for_each: { a: Array(1001).fill(1), b: Array(1001).fill(1) } }, "1002001 combinations, at most 1000000"],
	])("refused: %j", (job, said) => {
		expect(() => jobs(job)).toThrow(said);
	});

	test("each job has the index of its entry", () => {
		expect(expandAll([{ name: "a" }, { name: "b", for_each: [1, 2] }, { name: "c" }]).map(({ from }) => from)).toEqual([0, 1, 1, 2]);
	});

	test("for any values: as many jobs, each value in place of its name, nothing else changed", () => {
		const word = fc.string({ unit: fc.constantFrom("a", "b", "-", "$", "{", "}", "é"), maxLength: 8 });
		fc.assert(
			fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), word, (values, other) => {
				const found = expandAll([{ for_each: values, title: "<${item}>", args: other.replaceAll("${", () => "$${") }]);
				expect(found.map(({ job }) => job)).toEqual(values.map((value) => ({ title: `<${value}>`, args: other })));
			}),
		);
	});
});

describe("waves", () => {
	test("after and artifacts", () => {
		expect(
			wavesOf([
				{ name: "join", after: ["a:any", { job: "b" }] },
				{ name: "a", produces: ["custom:x:1"] },
				{ name: "b", needs: ["custom:x:1"] },
				{ needs: ["file:there"] },
			]),
		).toEqual([["a", "jobs[3]"], ["b"], ["join"]]);
	});

	test("artifacts that form a cycle end in one wave", () => {
		expect(
			wavesOf([
				{ name: "a", needs: ["custom:x:b"], produces: ["custom:x:a"] },
				{ name: "b", needs: ["custom:x:a"], produces: ["custom:x:b"] },
			]),
		).toEqual([["a", "b"]]);
	});
});
