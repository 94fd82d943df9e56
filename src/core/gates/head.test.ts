// Gate `head`: the pinned head, in the words of preset dag.

import { expect, test } from "vitest";
import { makeFacts, makeJob } from "../../../test/make/job.ts";
import { head } from "./head.ts";

const pinned = makeJob({ repo: "web", pinned_head: { branch: "main", commit: "abcd" } });
const mismatch = {
	reasons: [{ gate: "head", code: "pinned_head", subject: "head:web:main", detail: "pinned head mismatch on main", observed_at: 5 }],
	parked_on: "fact",
};

test("passes without a pin, and where it was pinned", () => {
	expect(head.ask(makeJob(), makeFacts())).toBeNull();
	expect(head.ask(pinned, makeFacts({ head: { value: "abcd", observed_at: 5 } }))).toBeNull();
});

test.each(["abce", "ABCD", null, undefined, true])("moved to %s", (value) => {
	expect(head.ask(pinned, makeFacts({ head: { value, observed_at: 5 } }))).toEqual(mismatch);
});

test("unreadable is not where it was pinned", () => {
	expect(head.ask(pinned, makeFacts({ head: { value: "abcd", error: "no repo", observed_at: 5 } }))).toEqual(mismatch);
});

test("not probed yet", () => {
	expect(head.ask(pinned, makeFacts())).toEqual({
		reasons: [{ gate: "head", code: "probing", subject: "head:web:main", detail: "probing head of main" }],
		parked_on: "fact",
	});
});
