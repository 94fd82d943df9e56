// The form for a job: to add one, to copy one, to change one that waits. While it is filled in, the daemon says what it would make of it.

import { useEffect, useState } from "preact/hooks";
import { app } from "../app.ts";
import { Refused } from "../net/client.ts";
import { Loading, Problem } from "../parts/bits.tsx";
import { keepDraft, recallDraft } from "../parts/drafts.ts";
import { useNews, useQuery } from "../parts/hooks.ts";
import { useModal } from "../parts/modal.ts";
import { overlay } from "../parts/overlay.ts";
import {
	changeOf,
	type DraftKind,
	draftOf,
	draftOfInput,
	emptyDraft,
	inputOf,
	isFor,
	isWritten,
	type JobDraft,
	KINDS,
	readDraft,
	TEXTS,
} from "./draft.ts";
import { type FieldFaults, Main, More, Placing } from "./fields.tsx";
import { Outlook, usePreview } from "./outlook.tsx";

export type FormProps = { how: "add" | "clone" | "edit"; job: number | null };

const TITLES = { add: "Add a job", clone: "Add a copy of job", edit: "Change job" };
const KIND_WORDS: Record<DraftKind, string> = { agent: "Agent", command: "Command", recipe: "Recipe" };

let openings = 0;

export function JobForm({ how, job }: FormProps) {
	const close = () => overlay.show(null);
	const modal = useModal(close);
	// Each opening asks anew: an answer that was kept may be of before the last change.
	const [opening] = useState(() => ++openings);
	const shown = useQuery(`form ${opening}`, () => firstDraft(how, job));
	return (
		<dialog {...modal} class="jobform" aria-labelledby="form-title">
			<h2 id="form-title">
				{TITLES[how]} {job ?? ""}
			</h2>
			{shown.problem ? <Problem text={shown.problem} again={shown.again} /> : null}
			{shown.value === null && !shown.problem ? <Loading what={`job ${job}`} /> : null}
			{shown.value !== null ? <Filled how={how} job={job} first={shown.value} close={close} /> : null}
		</dialog>
	);
}

async function firstDraft(how: FormProps["how"], job: number | null): Promise<JobDraft> {
	if (job === null) return emptyDraft();
	if (how === "clone") return draftOf((await app.call("job.show", { id: job })).job);
	return draftOfInput((await app.call("job.edit", { id: job })).fields);
}

type FilledProps = FormProps & { first: JobDraft; close: () => void };

/** What was typed is kept for this tab until it is sent. */
function useDraft({ how, job, first }: FilledProps) {
	const key = job === null ? how : `${how} ${job}`;
	const [draft, setDraft] = useState<JobDraft>(() => readDraft(recallDraft(key)) ?? first);
	const set = (change: Partial<JobDraft>) => {
		const next = { ...draft, ...change };
		setDraft(next);
		keepDraft(key, isWritten(next) ? JSON.stringify(next) : "");
	};
	return { draft, set, forget: () => keepDraft(key, ""), reset: () => set(first) };
}

function faultsOf(error: unknown): FieldFaults {
	if (!(error instanceof Refused)) return { "": error instanceof Error ? error.message : String(error) };
	const faults: FieldFaults = {};
	const mistakes = error.mistakes.length > 0 ? error.mistakes : [{ message: error.message, hint: error.hint, field: undefined }];
	for (const { message, hint, field } of mistakes) {
		const key = /^\w+/.exec(field ?? "")?.[0] ?? "";
		const words = key !== "" && message.startsWith(`${field}: `) ? message.slice(`${field}: `.length) : message;
		faults[key] ??= hint ? `${words}: ${hint}` : words;
	}
	return faults;
}

function Filled(props: FilledProps) {
	const { how, job, first, close } = props;
	const { draft, set, forget, reset } = useDraft(props);
	const [faults, setFaults] = useState<FieldFaults>({});
	const [isSending, setSending] = useState(false);
	useNews("link");
	const input = inputOf(draft);
	const preview = usePreview(how === "edit" ? null : input);
	useEffect(() => setFaults({}), [draft]);
	const told = shownFaults({ ...(preview.fault === null ? {} : faultsOf(preview.fault)), ...faults }, draft);
	const send = async () => {
		setSending(true);
		try {
			const words = how === "edit" && job !== null ? await change(job, changeOf(first, draft)) : await add(input);
			forget();
			close();
			app.say("done", words.text, words.undo);
			app.look();
		} catch (error) {
			setFaults(faultsOf(error));
		}
		setSending(false);
	};
	return (
		<form
			onKeyDown={(event) => {
				if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
			}}
			onSubmit={(event) => {
				event.preventDefault();
				if (draft.kind === "agent" && draft.agent === "") setFaults({ agent: "choose the agent that does it" });
				else if (!isSending) void send();
			}}
		>
			<div class="body">
				{how === "edit" ? null : <Kinds draft={draft} set={set} />}
				<Main draft={draft} set={set} faults={told} />
				<Placing draft={draft} set={set} faults={told} />
				<More draft={draft} set={set} faults={told} />
				{told[""] ? (
					<p class="fault" role="alert">
						{told[""]}
					</p>
				) : null}
			</div>
			<div class="foot">
				{how === "edit" ? <p class="outlook dim">Only what you change here is changed.</p> : <Outlook preview={preview} />}
				<div class="buttons">
					{isWritten(draft) && JSON.stringify(draft) !== JSON.stringify(first) ? (
						<button type="button" class="link" onClick={reset}>
							{how === "add" ? "Empty it" : "As it was"}
						</button>
					) : null}
					<button type="button" onClick={close}>
						Close
					</button>
					<button type="submit" class="main" disabled={isSending || !app.signedIn} title="Ctrl Enter">
						{how === "edit" ? "Save" : "Add"}
					</button>
				</div>
			</div>
		</form>
	);
}

/** What is wrong with a field that this kind of job does not show, is told below the form. */
function shownFaults(faults: FieldFaults, { kind }: JobDraft): FieldFaults {
	const shown: FieldFaults = {};
	for (const [key, words] of Object.entries(faults)) {
		const text = TEXTS.find((one) => one === key);
		if (key === "vars" || (text && isFor(text, kind))) shown[key] = words;
		else shown[""] = [shown[""], key === "" ? words : `${key}: ${words}`].filter(Boolean).join("; ");
	}
	return shown;
}

type Kept = { draft: JobDraft; set: (change: Partial<JobDraft>) => void };

function Kinds({ draft, set }: Kept) {
	return (
		<fieldset class="kinds" aria-label="What it is">
			{KINDS.map((kind) => (
				<button key={kind} type="button" aria-pressed={draft.kind === kind} onClick={() => set({ kind })}>
					{KIND_WORDS[kind]}
				</button>
			))}
		</fieldset>
	);
}

type Done = { text: string; undo?: () => void };

async function add(input: ReturnType<typeof inputOf>): Promise<Done> {
	const result = await app.call("job.add", input);
	if (result.outcome === "deferred") throw new Refused("limit", result.hint);
	if (result.outcome === "duplicate") throw new Refused("conflict", `job ${result.job} with the same key is open`);
	if (result.outcome === "already_running") throw new Refused("conflict", `job ${result.holder} has its item already`);
	const ids = result.jobs ?? [result.job.id];
	const warning = result.warning ? ` Note: ${result.warning}` : "";
	return {
		text: `Added ${ids.length === 1 ? `job ${ids[0]}` : `jobs ${ids.join(", ")}`}.${warning}`,
		undo: () => void app.act("job.cancel", { ids }, ({ cancelled, requested }) => `Cancelled ${[...cancelled, ...requested].join(", ")}.`),
	};
}

async function change(id: number, change: ReturnType<typeof changeOf>): Promise<Done> {
	const { changed, warning } = await app.call("job.edit", { id, ...change });
	if (changed.length === 0) return { text: `Job ${id} stays as it is.` };
	return { text: `Changed ${changed.join(", ")} of job ${id}.${warning ? ` Note: ${warning}` : ""}` };
}
