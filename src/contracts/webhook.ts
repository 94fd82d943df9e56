// Contract of webhooks: what the store keeps of each, how a request is sent, and what methods and commands see of them.

/** What the leader has recorded of a webhook. Every event up to `cursor` is dealt with, but for those in `pending`. */
export type WebhookRecord = {
	cursor: number;
	/** Number, first attempt (0: none yet), attempts. */
	pending: [seq: number, first_at: number, attempts: number][];
	/** Since when its events are sent. */
	since: number;
	delivered: number;
	given_up: number;
	delivered_at: number | null;
	delivered_seq: number | null;
	failed_at: number | null;
	/** Why the last attempt failed; null once a later one has succeeded. */
	error: string | null;
	/** Attempts in a row that failed. */
	failures: number;
	/** When the next attempt is due, if the receiver is down. */
	retry_at: number | null;
};

/** The store's part: one record for each webhook, for whichever host leads. */
export interface WebhookStates {
	read(): Promise<Record<string, WebhookRecord>>;
	/** Records the state; any earlier state that was recorded is true as well: at worst, events are sent again. */
	keep(name: string, record: WebhookRecord): Promise<void>;
	/** Asks the leader, by an event, to send at once whatever waits; with `from`, to send everything from that event on again. */
	retry(name: string, options?: { from?: number; by?: string }): Promise<void>;
}

export type HttpPost = {
	url: string;
	headers: Record<string, string>;
	body: string;
	/** From the connection to the end of the answer. */
	timeoutMs: number;
	signal?: AbortSignal | undefined;
};
/** `text`: the beginning of the answer's body. */
export type HttpAnswer = { status: number; retryAfter: string | undefined; text: string };
/** Redirects are not followed, certificates are verified. Rejects if no answer came. */
export type SendPost = (request: HttpPost) => Promise<HttpAnswer>;

/** A webhook as people see it. */
export type WebhookView = Omit<WebhookRecord, "pending"> & {
	name: string;
	/** Its origin: the rest of an address is often a key. */
	to: string;
	enabled: boolean;
	state: "idle" | "sending" | "failing" | "off";
	/** Events that were tried and are not delivered. */
	waiting: number;
	/** Events of the log that have not been looked at yet. */
	behind: number;
	/** Why nothing can be sent from this host: the secret cannot be read, say. */
	problem: string | null;
};

/** What one attempt gave. `status` is null if no answer came. */
export type WebhookTest = { delivered: boolean; status: number | null; took_ms: number; error: string | null; answer: string };

export interface Webhooks {
	list(): Promise<WebhookView[]>;
	/** Sends a test event now, whatever else waits. */
	test(name: string): Promise<WebhookTest>;
	retry(name: string, options: { from?: number; by: string }): Promise<void>;
}
