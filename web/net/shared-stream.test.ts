// Whole frames from pieces of a stream, however it is cut.

import { expect, test } from "vitest";
import { Frames } from "./shared-stream.ts";

test("a tab passes on whole frames only: a listener may join between any two pieces", () => {
	const frames = new Frames();
	expect(["id: 1\nda", "ta: {}\n\nid: 2", "\n\n: heart", "beat\n\n"].map((piece) => frames.take(piece))).toEqual([
		"",
		"id: 1\ndata: {}\n\n",
		"id: 2\n\n",
		": heartbeat\n\n",
	]);
});
