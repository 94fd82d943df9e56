// A reverse proxy that signs people in (OIDC, SAML, …) and passes their name on in a header. The header counts from the proxy alone: from any other peer a
// request with it is refused, because a caller that sends it either lies or goes round the proxy.
//
//   peer is not in `from`                                      403
//   a secret is set, and the proxy's secret is not with it     403
//   the name is no person, and `unknown` is refuse             403
//   a POST without Content-Type: application/json              403   another site's form cannot send that without asking first (CSRF)

import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { messageOf } from "../../core/errors.ts";
import { type PersonRole, personName } from "../../core/trust/people.ts";
import type { Caller } from "../context.ts";
import type { PeopleBook } from "./people-book.ts";
import { type HttpReply, refusal } from "./reply.ts";

/** `secret`: what the proxy sends in the header X-Sluice-Proxy-Secret; null: its address is enough. `unknown`: the role of people who were not added. */
export type ProxyRule = { from: readonly string[]; header: string; secret: string | null; unknown: PersonRole | null };

const SECRET_HEADER = "x-sluice-proxy-secret";

/** `::ffff:10.0.0.7` is an IPv4 address on a socket for both kinds. */
export const peerOf = ({ socket }: IncomingMessage): string => (socket.remoteAddress ?? "").replace(/^::ffff:/, "");

function isSecret(given: string | string[] | undefined, secret: string): boolean {
	const [a, b] = [Buffer.from(String(given ?? "")), Buffer.from(secret)];
	return a.length === b.length && timingSafeEqual(a, b);
}

/** Undefined: the request names no person in the header. */
export function callerByProxy(request: IncomingMessage, rule: ProxyRule, people: PeopleBook): Caller | HttpReply | undefined {
	const said = request.headers[rule.header];
	if (said === undefined || said === "") return undefined;
	const peer = peerOf(request);
	if (!rule.from.includes(peer))
		return refusal(403, "forbidden", `the header ${rule.header} is taken from the proxy alone, not from ${peer}`);
	if (rule.secret !== null && !isSecret(request.headers[SECRET_HEADER], rule.secret))
		return refusal(403, "forbidden", `the proxy's secret is missing or wrong: the proxy has to send it as ${SECRET_HEADER}`);
	if (request.method === "POST" && !/^application\/json\b/i.test(request.headers["content-type"] ?? ""))
		return refusal(403, "forbidden", "behind a proxy that signs people in, a POST needs Content-Type: application/json");
	let name: string;
	try {
		name = personName(said, rule.header);
	} catch (error) {
		return refusal(403, "forbidden", messageOf(error));
	}
	const role = people.roleOf(name) ?? rule.unknown;
	if (role === null)
		return refusal(403, "no_person", `${name} is signed in at the proxy and is no person of this daemon: sluice people add ${name}`);
	const person = { name, session: null, ...(rule.unknown === null ? {} : { otherwise: rule.unknown }) };
	return { role, by: name, channel: "http", person, from: forwardedFor(request) ?? peer };
}

/** The last address: the one that the proxy itself has added. */
const forwardedFor = ({ headers }: IncomingMessage): string | undefined =>
	/([\w.:]{2,45})\s*$/.exec(String(headers["x-forwarded-for"] ?? ""))?.[1];
