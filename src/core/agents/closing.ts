// Judges a run that ended well: whether its last words ask a person something, and whether it did what its job expected. Pure.
//
//   expect   changed     a tool was denied   its last words        outcome
//   any      yes         –                   –                     ok; the question is kept beside it
//   any      no          yes                 –                     needs_human: what was denied
//   any      no          no                  a question, an offer  needs_human: those words
//   any      unknown     yes                 –                     needs_human: what was denied
//   any      unknown     no                  a question            needs_human: those words
//   any      unknown     no                  an offer              ok; the question is kept beside it
//   any      no, unknown no                  not understood        needs_human: they may have asked
//   change   yes         –                   –                     ok; the question is kept beside it
//   change   no          –                   –                     needs_human: it changed nothing
//   change   unknown     as `any`; also after a person has answered the question "it changed nothing"
//   none     –           –                   –                     ok
//
// Whatever is expected, an agent that called a tool to ask a person (`asked`) is needs_human, unless it changed something.
//
// `unknown`: the job has no repo, so there is no worktree to compare. A finished answer of such a job often ends with an offer ("Would you like me to write
// tests, too?"), which must not keep the job from ending; a question that the agent needs answered before it begins must. In an unchanged worktree an offer
// counts as a question as well, because the work was not done. Thanks and "Is there anything else?" are neither.

import { keptDenied } from "./permissions/denied.ts";
import { short } from "./stream/json.ts";
import type { Reading } from "./stream/reading.ts";

export const EXPECTS = ["any", "change", "none"] as const;
export type Expect = (typeof EXPECTS)[number];

export type Closing = { outcome: "ok" } | { outcome: "needs_human"; question: string };
export type RunFindings = {
	/** Whether the job has changed or committed something; null if that is unknown. */
	changed: boolean | null;
	expect: Expect;
};
type Ended = Pick<Reading, "denied" | "asked" | "message" | "not_understood" | "other_lines">;

/** Whether the outcome depends on what was changed. The caller skips the check, which costs two git calls, if it does not. */
export const hingesOnChange = (ended: Ended, expect: Expect): boolean =>
	expect === "change" ||
	ended.asked.length > 0 ||
	(expect === "any" && (ended.denied.length > 0 || isWordless(ended) || closingWords(ended.message) !== null));

/** The agent wrote something, perhaps a question, but no adapter understood it. */
const isWordless = ({ message, not_understood, other_lines }: Ended): boolean => message === "" && not_understood + other_lines > 0;

export function closing(ended: Ended, { changed, expect }: RunFindings): Closing {
	const { denied, asked, message } = ended;
	if (changed === true) return { outcome: "ok" };
	if (asked.length > 0) return { outcome: "needs_human", question: asked.join("\n") };
	if (expect === "none") return { outcome: "ok" };
	if (expect === "change" && changed === false) return { outcome: "needs_human", question: unchanged(denied, message) };
	if (denied.length > 0) return { outcome: "needs_human", question: refused(denied, message) };
	if (isWordless(ended))
		return {
			outcome: "needs_human",
			question: "it says that it is done, but Sluice does not understand its words, and it has changed nothing",
		};
	const words = closingWords(message);
	if (words === null || (words.is === "offer" && changed === null)) return { outcome: "ok" };
	return { outcome: "needs_human", question: message };
}

/** Phrased as a question, because a person has to decide what the agent may do. */
export const refused = (denied: readonly string[], message: string): string =>
	`it was not allowed to:\n${keptDenied(denied)
		.map((one) => `- ${one}`)
		.join("\n")}\n\n${message}`.trim();

const UNCHANGED = "it changed nothing, though a change was expected";

function unchanged(denied: readonly string[], message: string): string {
	if (denied.length > 0) return `${UNCHANGED}; ${refused(denied, message)}`;
	return message === "" ? UNCHANGED : `${UNCHANGED}; its last words:\n${message}`;
}

/** A person who answered the question about a missing change knows of it: from then on the job may end without a change. */
export const expectedNow = (expect: Expect | undefined, asked: string | undefined): Expect =>
	expect === "change" && asked?.startsWith(UNCHANGED) ? "any" : (expect ?? "any");

/** What the agent's last words ask, as shown to people; null if they ask nothing. */
export const closingQuestion = ({ asked, message }: Pick<Ended, "asked" | "message">): string | null =>
	asked.length > 0 ? short(asked.join(" "), QUESTION_MAX) : (closingWords(message)?.text ?? null);

const QUESTION_MAX = 1000;

type Words = { is: "question" | "offer"; text: string };

/** The question at the end of a message: in its last paragraph, or in the paragraph before a list of choices. */
export function closingWords(message: string): Words | null {
	const blocks = blocksOf(message);
	const last = blocks.at(-1);
	if (last === undefined) return null;
	const own = isList(last) ? askedInList(last) : askedIn(last, blocks.at(-2));
	if (own !== null || blocks.length < 2) return own;
	// A list of choices, or a sentence on how to answer, follows the question.
	const before = blocks.at(-2) as string;
	if (isList(last) && !isList(before)) return askedIn(before, undefined);
	if (isList(before) && REPLY.test(last) && blocks.length > 2) return askedIn(blocks.at(-3) as string, undefined);
	return null;
}

/** Paragraphs without code and without Markdown markup; a list is a paragraph of its own. */
function blocksOf(message: string): string[] {
	const text = message.replace(/```[\s\S]*?(?:```|$)/g, "\n\n").replace(/\*\*|__|`|(?<!\s)\s*[([]y(?:es)?\/no?[)\]]/gi, "");
	const blocks: string[] = [];
	let wasList = false;
	for (const raw of text.split("\n")) {
		const line = raw.replace(/^\s*(?:>\s?|#{1,6}\s+)/, "").trim();
		const isItem = ITEM.test(line);
		if (line === "" || /^[-*_=]{3,}$/.test(line)) blocks.push("");
		else if (isItem !== wasList && (isItem || blocks.at(-1) === "")) blocks.push(line);
		else if (blocks.at(-1) === undefined || blocks.at(-1) === "") blocks.push(line);
		else blocks.push(`${blocks.pop()}\n${line}`);
		if (line !== "") wasList = isItem;
	}
	return blocks.filter((block) => block !== "").slice(-LOOKED_AT);
}

const LOOKED_AT = 4;
const ITEM = /^(?:[-*•–]|\(?(?:\d{1,2}|[a-zA-Z])[.)])\s+/;
const isList = (block: string): boolean => ITEM.test(block);
/** Brackets, quotes and emoji may follow a question mark. */
const ENDS_ASKING = /[?？؟](?:[\s"'”’)\]*_]|\p{Extended_Pictographic}|\ufe0f)*$/u;

const sentencesOf = (block: string): string[] =>
	block
		.split(/(?<=[.!?？؟。！:])["'”’)\]]*\s+/u)
		.map((one) => one.trim())
		.filter((one) => one !== "");

function askedInList(list: string): Words | null {
	const items = list.split("\n").map((item) => item.replace(ITEM, ""));
	return ENDS_ASKING.test(items.at(-1) ?? "") ? worded(items.filter((item) => ENDS_ASKING.test(item)).join(" ")) : null;
}

function askedIn(block: string, before: string | undefined): Words | null {
	const sentences = sentencesOf(block);
	const last = sentences.at(-1) ?? "";
	if (ENDS_ASKING.test(last)) return worded(last);
	if (DEMAND.test(last)) return COURTESY.test(last) ? null : { is: "question", text: short(last, QUESTION_MAX) };
	if (!REPLY.test(last)) return null;
	const earlier = sentences.at(-2) ?? sentencesOf(before ?? "").at(-1) ?? "";
	return ENDS_ASKING.test(earlier) ? worded(earlier) : null;
}

function worded(text: string): Words | null {
	if (COURTESY.test(text)) return null;
	const isOffer = OFFER.test(text) && !GO_AHEAD.test(text);
	return { is: isOffer ? "offer" : "question", text: short(text, QUESTION_MAX) };
}

/** Polite endings after finished work: neither a question nor an offer. */
const COURTESY =
	/\banything else\b|\b(?:any|further|other|more) (?:\w+ )?questions\b|\bhow (?:can|may|else can) i (?:help|assist)|\bdoes (?:that|this) (?:help|make sense|answer)|\bwhat (?:would you like|do you want) (?:me )?to do (?:next|now)\b|\bmake sense\?/i;

/** An offer to do something more. */
const OFFER =
	/\b(?:would|do|did) you (?:like|want|prefer)(?: for)? me to\b|\b(?:like|want|need) me to\b|\b(?:shall|should|can|could|may) i (?:also|help|then|additionally|next|now also)\b|\bwould (?:it|that) help if i\b|\b(?:interested in|would you like) (?:a|an|some|more|to see)\b/i;

/** A question whether or how to begin: nothing was done without the answer. */
const GO_AHEAD =
	/\b(?:proceed|go ahead|continue|carry on|start|begin|apply|overwrite|replace|delete|remove|keep|retry|try again|use|choose|pick|go with|install|run (?:it|this|that)|make (?:this|these|that|the) (?:change|edit)s?|(?:write|create) (?:it|the file|(?:this|these) files?))\b/i;

/** A request without a question mark. */
const DEMAND =
	/^(?:so |then |first,? )?(?:please|kindly|could you|can you) (?:confirm|clarify|tell me|specify|provide|share|grant|approve|allow|let me know|choose|pick|decide|advise|answer|reply)\b|\blet me know (?:which|what|how|whether|where|when|who|your)\b|\blet me know if (?:you(?:'d| would)? (?:approve|agree|want me to (?:proceed|go ahead|continue))|i (?:should|may|can) (?:proceed|go ahead|continue))|\bi(?:'ll| will)? (?:need|require) (?:your|you to|permission|approval|confirmation|more information|write access)\b|\b(?:wait(?:ing)?|await(?:ing)?) (?:for )?your (?:answer|reply|response|decision|confirmation|approval|permission|go-ahead|input)\b|\b(?:grant|give) (?:me )?(?:the )?(?:necessary |required )?(?:permission|access|approval)\b/i;

/** A sentence that only says how to answer the question before it. */
const REPLY =
	/\b(?:let me know|just say|reply|respond|say the word|once (?:you|i)|tell me|i(?:'ll| will) (?:then|wait|proceed|continue|go|start|make|apply)|if so|if not|either way|happy to)\b/i;
