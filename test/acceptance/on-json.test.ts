// What the five documents promise, once more, with all arguments and results of operations sent through JSON: another process can send them.

import { afterAll, expect } from "vitest";
import { OPERATIONS } from "../../src/scheduler/operations/index.ts";
import { CALLED, jsonCore } from "../make/json-core.ts";
import { wrapStands } from "../make/stand.ts";

wrapStands(jsonCore);

await import("./000-cards.test.ts");
await import("./001-town.test.ts");
await import("./002-dag.test.ts");
await import("./003-loops.test.ts");
await import("./004-kernel.test.ts");
await import("./operators.test.ts");
await import("./reasons.test.ts");
await import("../../src/scheduler/apply/apply.test.ts");
await import("../../src/scheduler/operations/cancel/cancel.test.ts");
await import("../../src/scheduler/operations/names.test.ts");
await import("../../src/scheduler/operations/tell.test.ts");
await import("../../src/scheduler/operations/verdicts.test.ts");
await import("../../src/scheduler/operations/waits.test.ts");
await import("../../src/scheduler/operations/within.test.ts");
await import("../fleet.test.ts");
await import("../outage.test.ts");
await import("../../src/scheduler/operations/index.test.ts");

afterAll(() => {
	const left = Object.keys(OPERATIONS).filter((name) => !(CALLED as Set<string>).has(name));
	expect(left).toEqual([]);
});
