// What the HTTP server answers: a status, headers, a body; refusals as JSON documents.

export type HttpReply = { status: number; headers?: Record<string, string>; body?: string | Buffer };

export const json = (status: number, body: unknown, headers = {}): HttpReply => ({
	status,
	headers: { "Content-Type": "application/json", ...headers },
	body: JSON.stringify(body),
});

export const refusal = (status: number, code: string, message: string, headers = {}): HttpReply =>
	json(status, { schema_version: 1, error: { code, message } }, headers);

export const notAllowed = (method: string): HttpReply => refusal(405, "request", `only ${method} is taken here`, { Allow: method });
