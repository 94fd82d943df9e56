// A daemon's servers that are shared with TLS, people with roles, and requests over HTTP and HTTPS.

import { type IncomingMessage, request as plain } from "node:http";
import { request as secure } from "node:https";
import { onTestFinished } from "vitest";
import type { PersonRole } from "../../../src/core/trust/people.ts";
import { ownCertificate } from "../../../src/daemon/sharing/certificate.ts";
import { systemClock } from "../../../src/host/local.ts";
import { makeFolder } from "../folder.ts";
import { type Desk, openDesk, openDoors, TOKENS } from "./served.ts";

export type Reply = { status: number; headers: Record<string, string | string[] | undefined>; body: string };
export type Asked = { method?: string; path?: string; headers?: Record<string, string>; body?: string };

type Shared = Awaited<ReturnType<typeof openDoors>> & { desk: Desk; tls: string; cert: string };

export async function openShared(more: Parameters<typeof openDoors>[1] = {}): Promise<Shared> {
	const desk = await openDesk();
	const doors = await openDoors(desk, more);
	const own = ownCertificate(makeFolder(), ["localhost", "127.0.0.1"], systemClock.now());
	const shared = await doors.serving.share({ address: "127.0.0.1", port: 0, tls: own });
	onTestFinished(() => shared.close());
	return { ...doors, desk, tls: `https://127.0.0.1:${shared.port}`, cert: own.cert };
}

/** The response as soon as its head is there; `url` may be plain or with TLS, whose certificate must be `ca`. */
export function open(url: string, { method = "GET", path = "/", headers = {}, body }: Asked = {}, ca?: string): Promise<IncomingMessage> {
	const { protocol, port } = new URL(url);
	return new Promise((resolve, reject) => {
		const options = { host: "127.0.0.1", port, method, path, headers, agent: false, servername: "localhost" };
		const out = protocol === "https:" ? secure({ ...options, ...(ca ? { ca } : {}) }, resolve) : plain(options, resolve);
		out.on("error", reject);
		out.end(body);
	});
}

export async function ask(url: string, asked: Asked = {}, ca?: string): Promise<Reply> {
	const response = await open(url, asked, ca);
	let body = "";
	for await (const piece of response) body += piece;
	return { status: response.statusCode ?? 0, headers: response.headers, body };
}

export const bearerOf = (token: string) => ({ Authorization: `Bearer ${token}` });

type RpcAnswer = {
	status: number;
	result?: Record<string, unknown>;
	error?: { code: number; message: string; data?: { code?: string; field?: string; hint?: string } };
};

export async function rpc(url: string, token: string | null, method: string, params: unknown = {}, ca?: string): Promise<RpcAnswer> {
	const headers = { "Content-Type": "application/json", ...(token === null ? {} : bearerOf(token)) };
	const { status, body } = await ask(
		url,
		{ method: "POST", path: "/rpc", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) },
		ca,
	);
	return { status, ...(body.startsWith("{") ? JSON.parse(body) : {}) };
}

/** A new person's link, as the owner gets it. */
export async function invite(url: string, name: string, role: PersonRole): Promise<string> {
	const { result, error } = await rpc(url, TOKENS.admin, "people.add", { name, role });
	if (error) throw new Error(error.message);
	return String(result?.link).replace(/^.*#code=/, "");
}

export const signIn = async (url: string, code: string, ca?: string) => {
	const { status, body } = await ask(url, { method: "POST", path: "/sign-in", headers: bearerOf(code) }, ca);
	return { status, ...(JSON.parse(body) as { token?: string; role?: string; name?: string; error?: { code: string; message: string } }) };
};

/** A person's token. */
export async function tokenOf(url: string, name: string, role: PersonRole): Promise<string> {
	return (await signIn(url, await invite(url, name, role))).token ?? "";
}
