// What ends a reason to wait, as a button: the daemon says which act it takes.

import type { ReasonRemedy } from "../../src/api/documents/queue.ts";
import { app } from "../app.ts";
import { count } from "../state/words.ts";
import { approve, clearAccount, clearHold, grantMore, release, resume, runNow, setLane, setMax } from "./actions.ts";

/** Caps and budgets take an admin. */
const mayRemedy = ({ act }: ReasonRemedy): boolean => !app.place.wall && (act === "raise" || act === "grant" ? app.mayManage : app.mayAct);

/** `ids`: the jobs that wait for it. */
export function RemedyButton({ remedy, detail, ids }: { remedy: ReasonRemedy | null; detail: string; ids: readonly number[] }) {
	if (remedy === null || !mayRemedy(remedy)) return null;
	const [words, act] = remedyOf(remedy, ids);
	return (
		<button type="button" class="small" aria-label={`${words}: ${detail}`} onClick={act}>
			{words}
		</button>
	);
}

function remedyOf({ act, subject }: ReasonRemedy, ids: readonly number[]): [words: string, act: () => void] {
	const [kind = "", name = ""] = subject.split(/:(.*)/s);
	const [first = 0] = ids;
	switch (act) {
		case "resume":
			return ["Resume", () => resume(subject === "all" ? {} : { [kind]: name })];
		case "release":
			return ["Release", () => release([...ids])];
		case "raise": {
			const max = subject === "all" ? (app.status?.max_concurrent ?? 0) : (app.status?.lanes[name]?.max ?? 0);
			return [`Raise to ${count(max + 1)}`, () => void (subject === "all" ? setMax(max + 1, max) : setLane(name, max + 1, max))];
		}
		case "open":
			return ["Open…", () => clearAccount(name)];
		case "close_breaker":
			return ["Try again", () => clearHold({ scope: subject, kind: "breaker_open" })];
		case "grant":
			return ["Grant more…", () => void grantMore(subject)];
		case "hosts":
			return ["Hosts", () => app.go({ view: "limits", job: null })];
		case "run_now":
			return ["Run now", () => runNow(first)];
		case "approve":
			return ["Approve", () => approve(first)];
		case "answer":
			return ["Answer", () => document.querySelector<HTMLElement>(".answer textarea")?.focus()];
	}
}
