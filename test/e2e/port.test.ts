// The port of the page: the next free one where it is taken, said wherever its address is shown; a refusal where the caller has named it.

import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { TestHome } from "../make/daemons/daemon.ts";

/** A port that another program has. */
async function takenPort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	return (server.address() as { port: number }).port;
}

test("a port that is set and taken: the next free one, said by up, status, doctor and open", async () => {
	const taken = await takenPort();
	const home = new TestHome();
	home.make(`port: ${taken}\n`);
	const env = { SLUICE_PORT: "" };
	const up = await home.run(["up", "--detach"], { env });
	const port = Number(/dashboard: http:\/\/127\.0\.0\.1:(\d+)\/ \(sluice open prints a link that signs in\)/.exec(up.err)?.[1]);
	expect(port).toBeGreaterThan(0);
	expect(port).not.toBe(taken);
	const why = `port ${taken} is taken by another program: ${port} is used instead`;
	expect(up.err).toContain(why);
	expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
	expect((await home.run(["status"], { env })).out).toContain(`Dashboard: http://127.0.0.1:${port}/ (${why})`);
	expect((await home.run(["doctor"], { env })).out).toContain(`http://127.0.0.1:${port}/ (${why})`);
	const open = await home.run(["open"], { env });
	expect([open.code, open.out.startsWith(`http://127.0.0.1:${port}/#code=`), open.err.includes(why)]).toEqual([0, true, true]);
	const set = await home.run(["config", "set", "port", "7521"], { env });
	expect(set.err).toBe(`port is 7521\nport counts from the next start: sluice down && sluice up --detach; until then it stays ${port}\n`);
});

test("a port that is named on the command line and taken is refused", async () => {
	const taken = await takenPort();
	const home = new TestHome();
	for (const args of [["up", "--detach"], ["up"]]) {
		const said = await home.run([...args, "--port", String(taken)]);
		expect(said.code).toBe(4);
		expect(said.err).toContain(`port ${taken} is taken by another program`);
		expect(said.err).toContain("leave --port out");
	}
	expect((await home.run(["up", "--detach"])).code).toBe(0);
});
