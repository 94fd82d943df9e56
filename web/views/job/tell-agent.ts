// Sends a text to a job's agent, in the way that the job's state needs: an answer, words for its run, or one more attempt with them.

import type { JobDocument } from "../../../src/api/documents.ts";
import { isTerminal } from "../../../src/core/job.ts";
import { app } from "../../app.ts";
import { sendAnswer } from "../../parts/actions.ts";

type Recipient = Pick<JobDocument, "id" | "status" | "question" | "agent" | "kind">;
/** Calls `sent` once the daemon has the text. */
type Send = (text: string, sent: () => void) => void;
/** `words`: on the button. `title`: what it does. `send` is null if nothing can be sent. */
export type ReviewDelivery = { words: string; title: string; send: Send | null };

const sending =
	(call: (text: string) => Promise<"done" | "failed">): Send =>
	(text, sent) =>
		void call(text).then((how) => (how === "done" ? sent() : undefined));

export function deliveryOf({ id, status, question, agent, kind }: Recipient): ReviewDelivery {
	if (!isTerminal(status) && question !== null)
		return {
			words: "Answer with them",
			title: "It asks: they are its answer, and it goes on",
			send: sending((text) => sendAnswer(id, text)),
		};
	if (agent === null || kind !== "agent")
		return { words: "Send", title: "This job runs no agent that could take them: copy them instead", send: null };
	if (status === "running")
		return {
			words: "Tell its agent",
			title: "It gets them at the end of its present turn, and goes on",
			send: sending((text) => tell(id, text)),
		};
	if (!isTerminal(status))
		return { words: "Tell its next run", title: "The prompt of its next run has them", send: sending((text) => tell(id, text)) };
	return {
		words: "Retry with them…",
		title: "It runs again, and everything that comes after it, with them in its prompt",
		send: (text, sent) => retryWith(id, text, sent),
	};
}

const tell = (id: number, text: string): Promise<"done" | "failed"> =>
	app.act("job.tell", { id, text }, ({ detail }) => `Told job ${id}: ${detail}.`);

/** Asks first. */
function retryWith(id: number, text: string, sent: () => void): void {
	const retryAndTell = async () => {
		const how = await app.act("job.retry", { id }, () => `Job ${id} runs again.`);
		return how === "done" ? tell(id, text) : how;
	};
	app.confirm({
		title: `Retry job ${id} with these comments?`,
		text,
		yes: "Retry with them",
		grave: false,
		first: "yes",
		act: () => sending(retryAndTell)(text, sent),
	});
}
