// Shared answers: news during a call, failures, and the connection that comes back.

import { expect, test } from "vitest";
import { Queries } from "./queries.ts";

/** Calls that end when the test says so. */
function calls() {
	const open: { done: (value: number) => void; fail: (error: Error) => void }[] = [];
	const ask = () => new Promise<number>((done, fail) => open.push({ done, fail }));
	const turn = async () => {
		for (let n = 0; n < 20; n++) await null;
	};
	return { open, ask, turn };
}

test("news during a call do not abort it: its answer is shown, and one more call follows, however many news came", async () => {
	const { open, ask, turn } = calls();
	const query = new Queries().of("batches", ask);
	query.join();
	query.want(ask, "1");
	for (const fresh of ["2", "3", "4"]) query.want(ask, fresh);
	expect(open.length).toBe(1);
	open[0]?.done(10);
	await turn();
	expect(query.value).toBe(10);
	expect(open.length).toBe(2);
	open[1]?.done(20);
	await turn();
	expect([query.value, open.length]).toEqual([20, 2]);
});

test("a failure keeps the last answer and says why; the connection that is back asks again", async () => {
	const { open, ask, turn } = calls();
	const queries = new Queries();
	const query = queries.of("runs", ask);
	query.join();
	query.want(ask, "1");
	open[0]?.done(10);
	await turn();
	query.want(ask, "2");
	open[1]?.fail(new Error("the daemon cannot be reached"));
	await turn();
	expect([query.value, query.problem]).toEqual([10, "the daemon cannot be reached"]);
	queries.heal();
	open[2]?.done(30);
	await turn();
	expect([query.value, query.problem]).toEqual([30, null]);
});

test("without a user nothing follows; the same news are not asked for twice; a key has one query", async () => {
	const { open, ask, turn } = calls();
	const queries = new Queries();
	const query = queries.of("job 7", ask);
	query.want(ask, "1");
	query.want(ask, "2");
	open[0]?.done(10);
	await turn();
	expect(open.length).toBe(1);
	query.want(ask, "2");
	expect(open.length).toBe(1);
	expect(queries.of("job 7", ask)).toBe(query);
	// A part of the page that comes back gets what is known at once, and it is asked for again.
	query.join();
	query.want(ask, "2");
	expect([query.value, open.length]).toEqual([10, 2]);
});
