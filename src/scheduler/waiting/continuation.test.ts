// How continuations are stored: keys that earlier versions wrote are read, and what is read is what was written.

import { expect, test } from "vitest";
import { type Continuation, continuationKey, continuationOf } from "./continuation.ts";

const STORED: [string, Continuation][] = [
	["edges/7", { do: "edges", of: 7, after: 3 }],
	["merge/7", { do: "merge", of: 7, after: 3 }],
	["fact/artifact:file:a/b@repo", { do: "fact", of: "artifact:file:a/b@repo", after: 3 }],
	["evict/db/main", { do: "evict", of: "db/main", after: 3 }],
	["evict_shared/db", { do: "evict_shared", of: "db", after: 3 }],
	["pump/db", { do: "pump", of: "db", after: 3 }],
	["batch/night", { do: "batch", of: "night", after: 3 }],
	["rekey", { do: "rekey", of: null, after: 3 }],
	["host/h1", { do: "host", of: "h1", after: 3, before: 12 }],
	["cancel/5/000001", { do: "cancel", of: "5/000001", after: 3, ids: [9, 8], reason: "r", by: "b", piece: 200 }],
	["stage/4", { do: "stage", of: 4, after: 3, from: 4, to: 9 }],
];

test.each(STORED)("%s", (key, continuation) => {
	const { do: _what, of: _of, ...state } = continuation;
	expect(continuationKey(continuation)).toBe(key);
	expect(continuationOf(key, state)).toEqual(continuation);
});

test("work of another version is not known", () => {
	expect(continuationOf("toString/7", { after: 0 })).toBe(null);
	expect(continuationOf("later", { after: 0 })).toBe(null);
});
