// What a host's settings say of a webhook, one row a key.

import * as check from "../input/check.ts";
import { envReferenceOf, isBrokenReference } from "../input/env-reference.ts";
import { STATUSES } from "../job.ts";
import { EVENT_KINDS } from "../webhooks/filter.ts";
import type { Reader } from "./field.ts";
import { checkedMap, setting, type ValuesOf } from "./setting.ts";
import { flag, labels, length } from "./setting-values.ts";

const url: Reader<string> = (value, field) => {
	const text = check.text(value, field, { max: 2000, lines: "one" });
	// The error does not show the value: the path of such an address is often the key to it.
	if (!/^https?:\/\/[^\s/?#@]+(?:[/?#]\S*)?$/.test(text))
		throw check.wrong(
			field,
			"is not an address",
			'for example "https://example.org/hook"; a name or password before the host goes into headers',
		);
	return text;
};

/** Only where the secret is, so that neither config.yml nor a document has the secret itself. */
const secret: Reader<string> = (value, field) => {
	const text = check.text(value, field, { max: 4096, lines: "one" });
	if (envReferenceOf(text) === null)
		throw check.wrong(
			field,
			"must say where the secret is, not what it is",
			"write file:/path/of/a/file, or env:NAME of the daemon's environment",
		);
	return text;
};

/** Names that Sluice sets itself, or that say how the body is framed. */
const OWN_HEADERS = /^(?:sluice-.*|host|content-.*|transfer-encoding|connection|user-agent|expect|upgrade|te|trailer)$/i;

const headers: Reader<Record<string, string>> = (value, field) =>
	Object.fromEntries(
		Object.entries(check.record(value, field)).map(([name, one]) => {
			const at = `${field}.${name.slice(0, 60)}`;
			if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) throw check.wrong(at, "is not the name of a header");
			if (OWN_HEADERS.test(name)) throw check.wrong(at, "is set by Sluice", "leave it out");
			const text = check.text(one, at, { max: 4096, lines: "one" });
			if (isBrokenReference(text))
				throw check.wrong(at, "is no reference that can be followed", "write env:NAME, or file:/ and a whole path");
			if (/[^\t\x20-\x7e]/.test(text)) throw check.wrong(at, "has characters that a header cannot have");
			return [name, text];
		}),
	);

const someOf =
	<const T extends string>(options: readonly T[]): Reader<T[]> =>
	(value, field) =>
		check.list(value, field, 100).map((one, index) => check.oneOf(one, options, `${field}[${index}]`));

const DAY_MS = 86_400_000;

const WEBHOOK = {
	url: setting("", url).about(
		"Where events are sent with POST: `https://…`, whose certificate is verified, or `http://…`. A redirect is not followed. Documents show its host only.",
		"–",
	),
	secret: setting("", secret).about(
		"Where the secret is that signs each request: `file:/PATH` or `env:NAME` of the daemon's environment; at least 16 characters. Several lines in the file: each signs, so that a secret can be changed.",
		"–",
	),
	events: setting([], someOf(EVENT_KINDS)).about("Kinds of [events](events.md) to send: `[ended, merge]`. Empty = all."),
	statuses: setting([], someOf(STATUSES)).about(
		"Only events that bring a job into one of these statuses: `[succeeded, failed]`. Empty = all events, also those that change no status.",
	),
	lanes: setting([], labels).about("Only events of jobs in these lanes. Empty = all."),
	batches: setting([], labels).about("Only events of jobs in these batches, and of the batches themselves. Empty = all."),
	repos: setting([], labels).about("Only events of jobs of these repos. Empty = all."),
	headers: setting<Record<string, string>>({}, headers).about(
		"More headers of each request: texts, or `env:NAME` and `file:/PATH` for what must not stand in config.yml.",
	),
	timeout_ms: setting(10_000, length(100, 60_000)).about("How long a request may take, from the connection to the end of the answer."),
	give_up_after_ms: setting(DAY_MS, length(0, 30 * DAY_MS)).about(
		"An event that still cannot be delivered this long after its first attempt is given up. Until then it is sent again after 1 s, 2 s, 4 s … an hour.",
	),
	enabled: setting(true, flag).about("`false`: nothing is sent; what happens meanwhile is sent once it is `true` again."),
};
export type WebhookSettings = ValuesOf<typeof WEBHOOK>;

function checkWebhook(one: WebhookSettings, field: string): void {
	if (one.url === "") throw check.wrong(`${field}.url`, "is missing", "where the events are sent to");
	if (one.secret === "") throw check.wrong(`${field}.secret`, "is missing", "file:/path/of/a/file with a random text, or env:NAME");
}
export const WEBHOOKS = checkedMap(WEBHOOK, checkWebhook, "Receivers of events, by name.");
