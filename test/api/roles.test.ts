// Every method of the protocol, over the socket, HTTP and HTTPS, by each kind of caller: allowed or refused exactly as the protocol declares.

import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/api/client.ts";
import { isAtLeast, type Method, ROLES, type Role } from "../../src/api/fields.ts";
import { METHODS, type MethodName } from "../../src/api/protocol.ts";
import { TOKENS } from "../make/daemons/served.ts";
import { openShared, rpc, tokenOf } from "../make/daemons/shared.ts";

const NAMES = Object.keys(METHODS) as MethodName[];
const RUN_TOKEN = "of-1.1";

type Verdict = "allowed" | "refused" | "no token";
/** Calls a method and says what became of it. Parameters as a list are wrong for every method, and are looked at only once the role is. */
type Caller = { role: Role | null; call(method: MethodName, params?: unknown): Promise<Verdict> };

function verdictOf(status: number, error: { code: number; data?: { code?: string } } | undefined, method: string): Verdict {
	if (status === 401) return "no token";
	if (error?.code === -32003 && error.data?.code === "unauthorised") return "refused";
	if (error === undefined || error.data?.code === "invalid") return "allowed";
	throw new Error(`${method}: ${JSON.stringify(error)}`);
}

/** All callers, by door and name. */
async function callers(): Promise<Record<string, Caller>> {
	const { url, tls, cert, socket, desk } = await openShared();
	await desk.t.add({ name: "job" });
	desk.pretended.runTokens.set(RUN_TOKEN, { job: 1, run: "1.1", token: 1 });
	const tokens: [name: string, token: string | null, role: Role | null][] = [
		["person who is viewer", await tokenOf(url, "vera", "viewer"), "viewer"],
		["person who is operator", await tokenOf(url, "otto", "operator"), "operator"],
		["person who is admin", await tokenOf(url, "anna", "admin"), "admin"],
		["viewer-token", TOKENS.viewer, "viewer"],
		["token", TOKENS.admin, "admin"],
		["run", RUN_TOKEN, "run"],
		["no token", null, null],
	];
	const found: Record<string, Caller> = {};
	for (const [name, token, role] of tokens) {
		for (const at of [url, tls])
			found[`${at.replace(/:.*/, "")}: ${name}`] = {
				role,
				call: async (method, params = []) => {
					const { status, error } = await rpc(at, token, method, params, cert);
					return verdictOf(status, error, method);
				},
			};
		const line = await connect(socket);
		onTestFinished(() => line.close());
		if (token !== null) await line.call("session.auth", { token });
		found[`socket: ${name}`] = {
			// The socket is the owner's: its file mode is the access control.
			role: role ?? "admin",
			call: (method, params = []) =>
				line.call(method, params as never).then(
					() => "allowed",
					(error) => verdictOf(200, { code: error.number, data: { code: error.code } }, method),
				),
		};
	}
	return found;
}

test("each method has a role, and those that manage people and the daemon are an admin's", () => {
	for (const name of NAMES) expect([name, ROLES.includes(METHODS[name].role)]).toEqual([name, true]);
	const admins = NAMES.filter((name) => /^(?:people|audit)\./.test(name));
	expect(admins.length).toBeGreaterThan(5);
	expect(admins.filter((name) => METHODS[name].role !== "admin")).toEqual([]);
	for (const name of ["config.set", "config.unset", "repo.trust", "repo.add", "session.code", "scheduler.down"] as const)
		expect([name, METHODS[name].role]).toEqual([name, "admin"]);
});

test.each(["http", "https", "socket"])("over %s, every method is allowed and refused as declared, for each caller", async (door) => {
	const all = Object.entries(await callers()).filter(([who]) => who.startsWith(`${door}: `));
	expect(all).toHaveLength(7);
	// Methods that act with some parameters, and read with others.
	const acting: Partial<Record<MethodName, unknown>> = { "scheduler.run": {}, "budget.report": { subject: "owner:bob" } };
	const declared = NAMES.filter((name) => (METHODS[name] as Method).acts !== undefined);
	expect(declared.sort()).toEqual(Object.keys(acting).sort());
	for (const [who, { role, call }] of all) {
		const expected = (least: Role): Verdict => (role === null ? "no token" : isAtLeast(role, least) ? "allowed" : "refused");
		for (const name of NAMES) expect([who, name, await call(name)]).toEqual([who, name, expected(METHODS[name].role)]);
		for (const name of declared)
			expect([who, name, await call(name, acting[name])]).toEqual([who, name, expected((METHODS[name] as Method).acts ?? "admin")]);
	}
});
