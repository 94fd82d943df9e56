// What the server is handed by the command that starts it: the way to the daemon, and where and in what surroundings it was called.

export type Document = Record<string, unknown>;

export type Door = {
	/** The answer's result. Rejects with an error that has `code`, `message` and perhaps `hint` and `field`. */
	call(method: string, params: Document): Promise<Document>;
	/** The job of the run that we are called from. */
	readonly job: number | undefined;
	/** The folder that a job runs in: the given one, from where we were called; else where we were called. */
	folder(given: string | undefined): string;
	/** The variables that a job takes along, as the setting `env` allows. */
	environment(): Promise<Record<string, string>>;
	/** An agent's JSON lines as text; `output` says whose they are. What is nobody's stays as it is. */
	rendered(output: string, text: string): string;
	/** JSON in which payloads stay as they were written: the caller's own, so that both sides mean the same by it. */
	readJson(text: string): unknown;
	writeJson(value: unknown): string;
	readonly version: string;
};
