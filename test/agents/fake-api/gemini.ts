// Gemini, as its command line uses it: `POST …/models/<model>:streamGenerateContent`.

import { type Dialect, type Failure, type Handed, JSON_TYPE, jsonReply, parse, type Reply, SSE, shellTool } from "./turn.ts";

type Tool = { functionDeclarations?: { name: string; parametersJsonSchema?: Schema; parameters?: Schema }[] };
type Schema = { properties?: Record<string, unknown> };

const error = (code: number, status: string, message: string, details: unknown[] = []): Reply =>
	jsonReply(code, { error: { code, message, status, details } });

function quota(period: "PerMinute" | "PerDay", retryDelayS: number | undefined): Reply {
	const violation = {
		quotaMetric: "generativelanguage.googleapis.com/generate_content_requests",
		quotaId: `GenerateRequests${period}PerProjectPerModel`,
	};
	const details: unknown[] = [{ "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [violation] }];
	if (retryDelayS !== undefined) details.push({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${retryDelayS}s` });
	const retry = retryDelayS === undefined ? "" : ` Please retry in ${retryDelayS}s.`;
	return error(429, "RESOURCE_EXHAUSTED", `You exceeded your current quota.${retry}`, details);
}

function fail(failure: Failure): Reply {
	switch (failure.fail) {
		case "throttled":
			return quota("PerMinute", failure.retryAfterS);
		case "limited":
			// This provider tells no reset: a day's quota is gone until the day is.
			return quota("PerDay", undefined);
		case "overloaded":
		case "unavailable":
			return error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.");
		case "internal":
			return error(500, "INTERNAL", "An internal error has occurred.");
		case "auth":
			return error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
				{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" },
			]);
		case "billing":
			return error(403, "PERMISSION_DENIED", "This API method requires billing to be enabled on this project.", [
				{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "BILLING_DISABLED", domain: "googleapis.com" },
			]);
		case "context":
			return error(400, "INVALID_ARGUMENT", "The input token count (2100000) exceeds the maximum number of tokens allowed (1048576).");
	}
}

function answer(part: Record<string, unknown>, usage: Handed, streamed: unknown, model: string): Reply {
	const prompt = usage.input + usage.cacheRead;
	const body = {
		candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
		usageMetadata: {
			promptTokenCount: prompt,
			cachedContentTokenCount: usage.cacheRead,
			candidatesTokenCount: usage.output - usage.reasoning,
			thoughtsTokenCount: usage.reasoning,
			totalTokenCount: prompt + usage.output,
		},
		modelVersion: model,
	};
	if (streamed) return { status: 200, headers: SSE, body: `data: ${JSON.stringify(body)}\n\n` };
	return { status: 200, headers: JSON_TYPE, body: JSON.stringify(body) };
}

export const gemini: Dialect = {
	name: "gemini",
	read({ method, path, headers, body }) {
		const found = /\/models\/([^:/]+):(\w+)/.exec(path);
		if (method !== "POST" || !found) return undefined;
		const streamed = found[2] === "streamGenerateContent";
		const asked = { ...parse(body), streamed };
		return { key: headers["x-goog-api-key"] ?? "", model: found[1] ?? "", side: !streamed, body: asked };
	},
	say: (asked, text, usage) => answer({ text }, usage, asked.body.streamed, asked.model),
	tool: (asked, name, input, usage) => answer({ functionCall: { name, args: input } }, usage, true, asked.model),
	offered: ({ body }) =>
		((body.tools ?? []) as Tool[])
			.flatMap((tool) => tool.functionDeclarations ?? [])
			.map(({ name, parametersJsonSchema, parameters }) => ({ name, properties: (parametersJsonSchema ?? parameters)?.properties ?? {} })),
	shell(asked, command) {
		const { name, argument } = shellTool(gemini.offered(asked), "run_shell_command");
		return { name, input: { [argument]: command, description: "do as told" } };
	},
	fail,
};
