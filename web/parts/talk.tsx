// Messages and dialogs of the page: what was done, confirmations before something is lost, the list of keys.

import { useState } from "preact/hooks";
import { app, type Confirmation } from "../app.ts";
import { keepDraft, recallDraft } from "./drafts.ts";
import { useNews } from "./hooks.ts";
import { useModal } from "./modal.ts";

export function Talk() {
	useNews("talk");
	return (
		<>
			<div class="toasts" role="status" aria-live="polite">
				{app.toasts.map(({ id, kind, text, undo }) => (
					<div key={id} class={`toast ${kind}`}>
						<span>{text}</span>
						{undo ? (
							<button
								type="button"
								class="small"
								onClick={() => {
									app.hush(id);
									undo();
								}}
							>
								Undo
							</button>
						) : null}
						<button type="button" class="small icon" aria-label="Close this note" onClick={() => app.hush(id)}>
							×
						</button>
					</div>
				))}
			</div>
			{app.question ? <Ask key={app.question.title} question={app.question} /> : null}
			{app.helping ? <Keys /> : null}
		</>
	);
}

function Ask({ question }: { question: Confirmation }) {
	const { title, text, yes, grave, field, choice, first, act } = question;
	const [value, setValue] = useState((field?.draft && recallDraft(field.draft)) || (field?.value ?? ""));
	const set = (words: string) => {
		setValue(words);
		if (field?.draft) keepDraft(field.draft, words);
	};
	const modal = useModal(() => app.confirm(null));
	const [chosen, choose] = useState("");
	useNews("link");
	const lacks = field?.needed === true && value.trim() === "" && chosen === "";
	return (
		<dialog {...modal} aria-labelledby="ask-title" class="ask">
			<form
				onKeyDown={(event) => {
					if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
				}}
				onSubmit={(event) => {
					event.preventDefault();
					if (lacks || !app.signedIn) return;
					if (field?.draft) keepDraft(field.draft, "");
					app.confirm(null);
					act(value, chosen);
				}}
			>
				<h2 id="ask-title">{title}</h2>
				<p class="said">{text}</p>
				{field ? (
					<div class="field">
						<label for="ask-field">{field.label}</label>
						{field.lines > 1 ? (
							<textarea id="ask-field" rows={field.lines} value={value} onInput={(event) => set(event.currentTarget.value)} />
						) : (
							<input id="ask-field" type="text" value={value} onInput={(event) => set(event.currentTarget.value)} />
						)}
					</div>
				) : null}
				{choice ? (
					<div class="field">
						<label for="ask-choice">{choice.label}</label>
						<select id="ask-choice" value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
							{choice.options.map(([one, words]) => (
								<option key={one} value={one}>
									{words}
								</option>
							))}
						</select>
					</div>
				) : null}
				{app.signedIn ? null : <p role="alert">{app.link.problem}. Copy what you have written, close this, and sign in again.</p>}
				<div class="buttons">
					<button type="button" onClick={() => app.confirm(null)}>
						Keep as it is
					</button>
					<button type="submit" class={grave ? "grave" : "main"} disabled={lacks || !app.signedIn} autofocus={first === "yes"}>
						{yes}
					</button>
				</div>
			</form>
		</dialog>
	);
}

const KEYS: [keys: string, does: string][] = [
	["1 … 8", "Now, Board, Graph, Timeline, Limits, Batches, Trends, Kernel"],
	["Ctrl K", "the command palette: every view, job and action"],
	["n", "add a job"],
	["/", "search; Escape leaves it"],
	["↑ ↓ ← →", "from job to job on the board; along the arrows in the graph; move the timeline"],
	["j k", "next, previous job"],
	["Enter", "open the job in focus"],
	["Escape", "back from a job; close a question, what you typed is kept"],
	["Ctrl Enter", "send an answer"],
	["v", "select the job in focus, on the board; Escape selects none"],
	["p", "pause everything, after asking; resume"],
	["l h w", "a job's log, history, reasons"],
	["c", "cancel the job that is open"],
	["r", "retry it"],
	["t", "to the front of its lane"],
	["a x", "approve, reject"],
	["+ −", "zoom graph and timeline; 0 shows all of it"],
	["f", "follow the log"],
	["d", "light, dark, as the system"],
	["?", "this list"],
];

function Keys() {
	const modal = useModal(() => app.help(false));
	return (
		<dialog {...modal} aria-labelledby="keys-title" class="keys">
			<h2 id="keys-title">Keys</h2>
			<table>
				<tbody>
					{KEYS.map(([keys, does]) => (
						<tr key={keys}>
							<th scope="row">{keys.split(" ").map((key) => (key === "…" ? " … " : <kbd key={key}>{key}</kbd>))}</th>
							<td>{does}</td>
						</tr>
					))}
				</tbody>
			</table>
			<div class="buttons">
				<button type="button" class="main" onClick={() => app.help(false)}>
					Close
				</button>
			</div>
		</dialog>
	);
}
