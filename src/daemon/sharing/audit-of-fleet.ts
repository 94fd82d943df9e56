// The record of calls of all hosts that share a store: each host keeps its own, and is asked for it through the store.

import type { AuditEntry, AuditFilter, AuditRecord } from "../../api/server/audit.ts";
import type { OutputRequest, Outputs } from "../../contracts/output.ts";
import type { AuditFile } from "./audit-file.ts";

/** How long a host may take to answer. */
const WAIT_MS = 5000;

type FleetAuditParts = {
	own: AuditFile;
	/** The name of this host. */
	name: string;
	outputs: Pick<Outputs, "inquire">;
	/** All hosts that have not left. */
	hosts(): Promise<{ name: string; state: string }[]>;
};

export function auditOfFleet({ own, name, outputs, hosts }: FleetAuditParts): AuditRecord {
	return {
		note: own.note,
		async read(filter) {
			const others = (await hosts()).filter((host) => host.name !== name);
			const answers = await Promise.all(
				others.map(async (host) => {
					// A host that has gone cannot answer: waiting for it would only delay the answer.
					const found = host.state === "gone" ? null : await outputs.inquire(host.name, { what: "audit", ...filter }, WAIT_MS);
					return { host: host.name, entries: Array.isArray(found) ? (found as AuditEntry[]) : null };
				}),
			);
			const all = [...own.read(filter), ...answers.flatMap(({ entries }) => entries ?? [])];
			return {
				entries: all.sort((a, b) => b.at - a.at).slice(0, filter.limit),
				missing: answers.filter(({ entries }) => entries === null).map(({ host }) => host),
			};
		},
	};
}

/** Answers such a question of another host. */
export const answerAudit = (own: AuditFile, { what: _, ...filter }: Extract<OutputRequest, { what: "audit" }>): AuditEntry[] =>
	own.read(filter satisfies AuditFilter);
