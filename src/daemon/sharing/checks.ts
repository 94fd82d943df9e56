// The check-up of a daemon that is shared on the network: whether it is, and how long its certificate lasts.

import type { Checkup, SharedEndpoint } from "../../api/context.ts";

const DAY_MS = 86_400_000;
/** A person renews a certificate that was given by files: the check-up warns this long before its end. The daemon renews its own certificate by itself. */
const WARN_MS = 21 * DAY_MS;

/** `until`: when the certificate ends; null without TLS. `people`: how many may sign in. */
export type SharingFacts = { endpoint: SharedEndpoint | null; until: number | null; people: number; now: number };

/** Empty while the settings do not share the daemon. */
export const sharingChecks = (facts: SharingFacts): Checkup[] =>
	facts.endpoint === null ? [] : [{ name: "sharing", ...findingOf(facts.endpoint, facts) }];

function findingOf(endpoint: SharedEndpoint, { until, people, now }: SharingFacts): Omit<Checkup, "name"> {
	if (endpoint.problem !== null)
		return {
			ok: false,
			detail: `not shared on ${endpoint.address}: ${endpoint.problem}`,
			hint: "sluice serve --listen ADDRESS sets another address, --off ends it",
		};
	const where = endpoint.url ?? endpoint.address;
	const hint = "put a new certificate and its key into the same files: the daemon reads them within an hour";
	if (until !== null && until <= now) return { ok: false, detail: `${where}: its certificate has ended`, hint };
	if (until !== null && until - now < WARN_MS && !endpoint.own_certificate)
		return { ok: false, detail: `${where}: its certificate ends in ${Math.ceil((until - now) / DAY_MS)} days`, hint };
	if (people === 0) return { ok: true, detail: `${where}: nobody can sign in yet`, hint: "sluice people add NAME makes a sign-in link" };
	return { ok: true, detail: `${where}: ${people === 1 ? "one person" : `${people} people`}` };
}
