// What a sling reports about items that the hard limit keeps out.

import { expect, test } from "vitest";
import { fullWords } from "./sling.ts";

test("the depth of each lane is named, if any job waited before", () => {
	const full = { limit: 16, hint: "retry later" };
	expect(fullWords({ ...full, depths: { implement: 9, review: 7 } })).toBe(
		"deferred: the queue is at its hard limit of 16 (implement: 9, review: 7)",
	);
	expect(fullWords({ ...full, depths: {} })).toBe("deferred: the queue is at its hard limit of 16");
});
