// What logs prints: sanitised or raw, page by page, attempt by attempt.

import { expect, test } from "vitest";
import { job, openCommandLine } from "../../../../test/make/daemons/command-line.ts";

test("logs: sanitised for people, raw on request, page by page", async () => {
	const text = "a\u001b[31mred\u001b[0m\u001b[2J\u0007\n";
	const line = await openCommandLine({
		"job.logs": ({ offset }) =>
			offset === 0 ? { text, next_offset: 20, eof: false, ended: true } : { text: "end", next_offset: 23, eof: true, ended: true },
	});
	expect((await line.run("logs 7")).out).toBe("ared\nend");
	expect((await line.run("logs 7 --raw --run 2 --stderr")).out).toBe(`${text}end`);
	expect(line.asked.at(-1)?.params).toEqual({ id: 7, stream: "stderr", run: 2, offset: 20, limit: 500_000 });
	expect((await line.run("logs 7 --json -f")).code).toBe(2);
});

test("logs -f continues with the next attempt until the job has ended", async () => {
	let shows = 0;
	const line = await openCommandLine({
		"job.logs": ({ run }) => ({ run: `7.${run ?? 1}`, text: `try ${run ?? 1}\n`, next_offset: 6, eof: true, ended: true }),
		"job.show": () => ({ job: job(7, { status: ++shows < 2 ? "queued" : "failed" }) }),
	});
	expect(await line.run("logs -f 7")).toEqual({ code: 0, out: "try 1\ntry 2\n", err: "attempt 2 …\n" });
	expect((await line.run("logs -f 7 --run 1")).out).toBe("try 1\n");
});

test("both streams in one text: a change of streams begins a new line; an agent's lines are rendered", async () => {
	const said = `${JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text: "hello" }] } })}\n`;
	const pieces: Record<string, { text: string; parts: unknown; output: string }> = {
		"1": {
			text: "50%oops\n100%\n",
			parts: [
				{ stream: "stdout", length: 3 },
				{ stream: "stderr", length: 5 },
				{ stream: "stdout", length: 5 },
			],
			output: "command",
		},
		"2": {
			text: `${said}warning: old\n`,
			parts: [
				{ stream: "stdout", length: said.length },
				{ stream: "stderr", length: 13 },
			],
			output: "claude",
		},
	};
	const line = await openCommandLine({
		"job.logs": ({ id }) => ({ run: `${id}.1`, ...pieces[String(id)], offset: 0, next_offset: 13, eof: true, ended: true }),
	});
	expect((await line.run("logs 1")).out).toBe("50%\noops\n100%\n");
	expect((await line.run("logs 1 --raw")).out).toBe("50%oops\n100%\n");
	expect((await line.run("logs 2")).out).toBe("hello\nwarning: old\n");
	expect((await line.run("logs 1 2")).out).toBe("1 | 50%\n1 | oops\n1 | 100%\n2 | hello\n2 | warning: old\n");
});

test("-n counts rendered lines, reads more if there are too few, and applies to -f", async () => {
	const silent = `${JSON.stringify({ type: "system", subtype: "init" })}\n`;
	const said = (text: string) => `${JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text }] } })}\n`;
	const all = [said("one"), said("two"), ...Array.from({ length: 20 }, () => silent)];
	const line = await openCommandLine({
		"job.logs": ({ tail }) => {
			const text = all.slice(-(tail as number)).join("");
			const offset = all.join("").length - text.length;
			return {
				run: "7.1",
				text,
				parts: [{ stream: "stdout", length: text.length }],
				offset,
				next_offset: offset + text.length,
				eof: true,
				ended: true,
				output: "claude",
			};
		},
		"job.show": { job: job(7, { status: "succeeded" }) },
	});
	expect((await line.run("logs 7 -n 1")).out).toBe("two\n");
	expect(line.asked.flatMap(({ method, params }) => (method === "job.logs" ? [params.tail] : []))).toEqual([1, 8, 64]);
	expect((await line.run("logs 7 -f")).out).toBe("one\ntwo\n");
	expect(line.asked.filter(({ method }) => method === "job.logs").at(-1)?.params).toMatchObject({ tail: 100, wait_ms: 10_000 });
	for (const text of ["logs 7 -n some", "logs 7 -n 1 --offset 3", "logs 7 --stdout --stderr", "logs 7 8 --json"])
		expect((await line.run(text)).code).toBe(2);
});

test("nothing written yet, and nothing written at all", async () => {
	const line = await openCommandLine({
		"job.logs": ({ id }) => ({ run: `${id}.1`, text: "", parts: [], offset: 0, next_offset: 0, eof: true, ended: id === 8 }),
		"job.history": { events: [] },
	});
	expect(await line.run("logs 7")).toEqual({ code: 0, out: "", err: "job 7 has written nothing yet\n" });
	expect(await line.run("logs 8 --stderr")).toEqual({ code: 0, out: "", err: "run 8.1 wrote nothing to stderr\n" });
});

test("a job that was put back: its log and outcome are those of the last attempt, with a note", async () => {
	const line = await openCommandLine({
		"job.logs": { run: "7.2", text: "second try\n", next_offset: 11, eof: true, ended: true },
		"job.show": { job: job(7, { status: "queued", attempt: 2 }) },
		"job.outcome": { outcome: { exit_code: 3 } },
	});
	const note = "this is attempt 2, which is kept; attempt 3 has not started: queued\n";
	expect(await line.run("logs 7")).toEqual({ code: 0, out: "second try\n", err: note });
	expect((await line.run("logs 7 --run 2")).err).toBe("");
	expect((await line.run("logs 7 --json")).err).toBe("");
	expect((await line.run("show 7 --outcome")).err).toContain(note);
});
