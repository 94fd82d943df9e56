// The form for a job: to add one or to copy one. While it is filled in, the daemon says what it would make of it.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { JobDocument } from "../../src/api/documents.ts";
import { app } from "../app.ts";
import { Refused } from "../net/client.ts";
import { Loading, Problem } from "../parts/bits.tsx";
import { keepDraft, recallDraft } from "../parts/drafts.ts";
import { useNews, useQuery } from "../parts/hooks.ts";
import { useModal } from "../parts/modal.ts";
import { overlay } from "../parts/overlay.ts";
import { type DraftKind, draftOf, emptyDraft, inputOf, isFor, isWritten, type JobDraft, KINDS, readDraft, TEXTS } from "./draft.ts";
import { type FieldFaults, Main, More, Placing } from "./fields.tsx";
import { Outlook, usePreview } from "./outlook.tsx";

export type FormProps = { how: "add" | "clone"; job: number | null };

const TITLES = { add: "Add a job", clone: "Add a copy of job" };
const KIND_WORDS: Record<DraftKind, string> = { agent: "Agent", command: "Command", recipe: "Recipe" };

export function JobForm({ how, job }: FormProps) {
	const close = () => overlay.show(null);
	const modal = useModal(close);
	const shown = useQuery(`form ${job}`, async () => (job === null ? null : (await app.call("job.show", { id: job })).job));
	return (
		<dialog {...modal} class="jobform" aria-labelledby="form-title">
			<h2 id="form-title">
				{TITLES[how]} {job ?? ""}
			</h2>
			{shown.problem ? <Problem text={shown.problem} again={shown.again} /> : null}
			{job !== null && shown.value === null && !shown.problem ? <Loading what={`job ${job}`} /> : null}
			{job === null ? <Filled how="add" of={null} close={close} /> : null}
			{job !== null && shown.value !== null ? <Filled how={how} of={shown.value} close={close} /> : null}
		</dialog>
	);
}

type FilledProps = { how: FormProps["how"]; of: JobDocument | null; close: () => void };

/** What was typed is kept for this tab until it is sent. */
function useDraft({ how, of }: FilledProps) {
	const key = of === null ? "add" : `${how} ${of.id}`;
	const first = useMemo(() => (of === null ? emptyDraft() : draftOf(of)), [of]);
	const [draft, setDraft] = useState<JobDraft>(() => readDraft(recallDraft(key)) ?? first);
	const set = (change: Partial<JobDraft>) => {
		const next = { ...draft, ...change };
		setDraft(next);
		keepDraft(key, isWritten(next) ? JSON.stringify(next) : "");
	};
	return { draft, set, first, forget: () => keepDraft(key, ""), reset: () => set(first) };
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
	const { of, close } = props;
	const { draft, set, first, forget, reset } = useDraft(props);
	const [faults, setFaults] = useState<FieldFaults>({});
	const [isSending, setSending] = useState(false);
	useNews("link");
	const input = inputOf(draft);
	const preview = usePreview(input);
	useEffect(() => setFaults({}), [draft]);
	const told = shownFaults({ ...(preview.fault === null ? {} : faultsOf(preview.fault)), ...faults }, draft);
	const send = async () => {
		setSending(true);
		try {
			const words = await add(input);
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
				<Kinds draft={draft} set={set} />
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
				<Outlook preview={preview} />
				<div class="buttons">
					{isWritten(draft) && JSON.stringify(draft) !== JSON.stringify(first) ? (
						<button type="button" class="link" onClick={reset}>
							{of === null ? "Empty it" : "As it was"}
						</button>
					) : null}
					<button type="button" onClick={close}>
						Close
					</button>
					<button type="submit" class="main" disabled={isSending || !app.signedIn} title="Ctrl Enter">
						Add
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
