// People, their links and sessions: every change by example.

import { describe, expect, test } from "vitest";
import { afterChange, LINK_LASTS_MS, type People, type PeopleChange, personName, SESSION_LASTS_MS, sessionIn } from "./people.ts";

const NOON = 1_900_000_000_000;
const DAY = 86_400_000;

/** Carries out changes one after the other; the last result. */
function play(people: People, changes: readonly PeopleChange[], now = NOON) {
	let at = people;
	let last: ReturnType<typeof afterChange> | undefined;
	for (const change of changes) {
		last = afterChange(at, change, now, "owner");
		at = last.people;
	}
	return { people: at, result: last?.result };
}
const ANNA: PeopleChange = { do: "add", name: "anna", role: "operator", link: "l1" };
const signIn = (link: string, session: string): PeopleChange => ({ do: "sign_in", link, session, from: "10.0.0.7" });

describe("a link", () => {
	test("signs in once: the second caller is told that it was used, also when both come at the same moment", () => {
		const first = play({}, [ANNA, signIn("l1", "s1")]);
		expect(first.result).toEqual({ name: "anna", role: "operator" });
		expect(play(first.people, [signIn("l1", "s2")]).result).toEqual({ why: "used", at: NOON });
		expect(sessionIn(first.people, "s1")?.name).toBe("anna");
		expect(sessionIn(play(first.people, [signIn("l1", "s2")]).people, "s2")).toBeUndefined();
	});

	test("of three days counts although clocks differ by a day, and is expired afterwards", () => {
		const { people } = play({}, [ANNA]);
		expect(play(people, [signIn("l1", "s")], NOON + 2 * DAY).result).toMatchObject({ name: "anna" });
		expect(play(people, [signIn("l1", "s")], NOON - DAY).result).toMatchObject({ name: "anna" });
		expect(play(people, [signIn("l1", "s")], NOON + LINK_LASTS_MS).result).toEqual({ why: "expired", at: NOON + LINK_LASTS_MS });
		expect(play(people, [signIn("nonsense", "s")]).result).toEqual({ why: "unknown", at: null });
	});

	test("at most five of a person are open, and a removed person's are worth nothing", () => {
		const links = Array.from({ length: 6 }, (_, n): PeopleChange => ({ do: "link", name: "anna", link: `m${n}` }));
		const { people } = play({}, [ANNA, ...links]);
		expect([play(people, [signIn("l1", "s")]).result, play(people, [signIn("m0", "s")]).result]).toEqual([
			{ why: "unknown", at: null },
			{ why: "unknown", at: null },
		]);
		expect(play(people, [{ do: "remove", name: "anna" }, signIn("m5", "s")]).result).toEqual({ why: "unknown", at: null });
	});
});

describe("a person", () => {
	test("is added once, gets another role, is removed with all sessions; who is not there is named with the nearest", () => {
		const { people } = play({}, [ANNA, signIn("l1", "s1"), { do: "role", name: "anna", role: "viewer" }]);
		expect(people.anna).toMatchObject({ role: "viewer", added_by: "owner", sessions: [{ digest: "s1" }] });
		expect(() => play(people, [ANNA])).toThrow('there is a person "anna" already');
		expect(() => play(people, [{ do: "role", name: "ana", role: "admin" }])).toThrow('there is no person "ana"');
		expect(() => play(people, [{ do: "remove", name: "__proto__" }])).toThrow("there is no person");
		expect(sessionIn(play(people, [{ do: "remove", name: "anna" }]).people, "s1")).toBeUndefined();
	});

	test("signs a session out; at most twenty are kept, and those of more than 90 days go", () => {
		const many = Array.from({ length: 25 }, (_, n): PeopleChange[] => [
			{ do: "link", name: "anna", link: `k${n}` },
			signIn(`k${n}`, `s${n}`),
		]).flat();
		const { people } = play({}, [ANNA, ...many]);
		expect(people.anna?.sessions.map(({ digest }) => digest)).toEqual(Array.from({ length: 20 }, (_, n) => `s${n + 5}`));
		expect(play(people, [{ do: "sign_out", session: "s24" }]).people.anna?.sessions).toHaveLength(19);
		expect(play(people, [{ do: "sign_out", session: "gone" }]).result).toBeNull();
		const later = play(people, [{ do: "link", name: "anna", link: "x" }, signIn("x", "new")], NOON + SESSION_LASTS_MS);
		expect(later.people.anna?.sessions.map(({ digest }) => digest)).toEqual(["new"]);
	});
});

test("names: letters, digits and . _ - @ +, in lower case, and no word of Sluice's own", () => {
	expect(["Anna", "anna@Example.org", "åsa", "x+y"].map((name) => personName(name, "name"))).toEqual([
		"anna",
		"anna@example.org",
		"åsa",
		"x+y",
	]);
	for (const name of ["", " ", "a b", "run:1", "-rf", "a/b", "token", "Daemon", "x\n", "x".repeat(101), 7, null])
		expect(() => personName(name, "name")).toThrow();
});
