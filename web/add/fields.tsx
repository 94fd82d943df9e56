// The fields of the form: what the job does, where it is placed, and what is rarely needed.

import type { ComponentChildren } from "preact";
import { app } from "../app.ts";
import { Complete, type Completion, type Suggestion, wordAt } from "../parts/complete.tsx";
import { useQuery } from "../parts/hooks.ts";
import { type DraftText, isFor, type JobDraft } from "./draft.ts";

/** What is wrong, by field; the empty key is what belongs to none. */
export type FieldFaults = Record<string, string>;
type FieldProps = { draft: JobDraft; set: (change: Partial<JobDraft>) => void; faults: FieldFaults };

/** A field with its label, a hint and what is wrong with it. */
function Labelled({
	name,
	label,
	fault,
	hint,
	children,
}: {
	name: string;
	label: string;
	fault: string | undefined;
	hint?: string;
	children: ComponentChildren;
}) {
	return (
		<div class={`field of-${name}`}>
			<label for={`job-${name}`}>{label}</label>
			{children}
			{fault ? (
				<span class="fault" id={`job-${name}-fault`} role="alert">
					{fault}
				</span>
			) : hint ? (
				<span class="hint dim">{hint}</span>
			) : null}
		</div>
	);
}

type TextProps = FieldProps & {
	name: DraftText;
	label: string;
	hint?: string;
	type?: "text" | "datetime-local";
	lines?: number;
	options?: readonly string[];
	placeholder?: string;
};

function TextField({ draft, set, faults, name, label, hint, type = "text", lines, options, placeholder }: TextProps) {
	const fault = faults[name];
	const common = {
		id: `job-${name}`,
		value: draft[name],
		placeholder,
		"aria-invalid": fault !== undefined,
		"aria-describedby": fault ? `job-${name}-fault` : undefined,
		spellcheck: name === "prompt" || name === "args" || name === "title",
		onInput: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value }),
	};
	return (
		<Labelled name={name} label={label} fault={fault} {...(hint ? { hint } : {})}>
			{lines ? (
				<textarea {...common} rows={lines} autofocus />
			) : (
				<input {...common} type={type} {...(options ? { list: `job-${name}-list` } : {})} />
			)}
			{options ? (
				<datalist id={`job-${name}-list`}>
					{options.map((one) => (
						<option key={one} value={one} />
					))}
				</datalist>
			) : null}
		</Labelled>
	);
}

type ChoiceProps = FieldProps & {
	name: DraftText;
	label: string;
	none: string;
	options: readonly (readonly [value: string, words: string])[];
};

function ChoiceField({ draft, set, faults, name, label, none, options }: ChoiceProps) {
	const value = draft[name];
	const all = value === "" || options.some(([one]) => one === value) ? options : [[value, value] as const, ...options];
	return (
		<Labelled name={name} label={label} fault={faults[name]}>
			<select
				id={`job-${name}`}
				value={value}
				aria-invalid={faults[name] !== undefined}
				onChange={(event) => set({ [name]: event.currentTarget.value })}
			>
				<option value="">{none}</option>
				{all.map(([one, words]) => (
					<option key={one} value={one}>
						{words}
					</option>
				))}
			</select>
		</Labelled>
	);
}

export function Main(props: FieldProps) {
	const { draft } = props;
	if (draft.kind === "command")
		return <TextField {...props} name="command" label="Command" lines={5} hint="Read by the shell (/bin/sh)." placeholder="make test" />;
	if (draft.kind === "agent") return <TextField {...props} name="prompt" label="Prompt" lines={9} placeholder="What the agent shall do" />;
	return <RecipeFields {...props} />;
}

function RecipeFields(props: FieldProps) {
	const { draft, set, faults } = props;
	const { repo } = draft;
	const { value } = useQuery(`recipes ${repo}`, () =>
		app.call("recipe.list", repo === "" ? {} : { repo }).catch(() => app.call("recipe.list", {})),
	);
	const recipes = value?.recipes ?? [];
	const chosen = recipes.find(({ name }) => name === draft.recipe);
	return (
		<>
			<ChoiceField
				{...props}
				name="recipe"
				label="Recipe"
				none="choose one"
				options={recipes.map(({ name, description }) => [name, description ? `${name}: ${description}` : name])}
			/>
			{chosen?.error ? <p class="fault">{chosen.error}</p> : null}
			{(chosen?.vars ?? []).map(({ name, about, required, default: usual }) => (
				<div class="field" key={name}>
					<label for={`job-var-${name}`}>
						{name} {required && usual === null ? "" : "(optional)"}
					</label>
					<input
						id={`job-var-${name}`}
						type="text"
						value={draft.vars[name] ?? ""}
						placeholder={usual ?? ""}
						onInput={(event) => set({ vars: { ...draft.vars, [name]: event.currentTarget.value } })}
					/>
					{about ? <span class="hint dim">{about}</span> : null}
				</div>
			))}
			{faults.vars ? <p class="fault">{faults.vars}</p> : null}
			<TextField {...props} name="args" label="Instructions for the agent" lines={5} />
		</>
	);
}

const AFTER_SHOWN = 8;

/** Jobs by name or number, those that have not ended first. */
function suggestJobs(text: string, caret: number): Suggestion | null {
	const { from, to, word } = wordAt(text, caret);
	if (word === "" || word.includes(":")) return null;
	const low = word.toLowerCase();
	const options: (Completion & { rank: number })[] = [];
	for (const { id, name, label, endedAt } of app.jobs.rows.values()) {
		const begins = String(id).startsWith(low) || name?.toLowerCase().startsWith(low);
		if (!begins && !label.toLowerCase().includes(low)) continue;
		options.push({ text: `${name ?? id} `, words: `${id} ${label}`, rank: (endedAt === null ? 0 : 2) + (begins ? 0 : 1) });
	}
	options.sort((a, b) => a.rank - b.rank);
	return { from, to, options: options.slice(0, AFTER_SHOWN) };
}

const names = (some: readonly { name: string }[] | undefined): (readonly [string, string])[] =>
	(some ?? []).map(({ name }) => [name, name]);

export function Placing(props: FieldProps) {
	const { draft, set, faults } = props;
	const agents = useQuery("agents", () => app.call("agent.list", {}));
	const repos = useQuery("repos", () => app.call("repo.list", {}));
	const accounts = useQuery("accounts", () => app.call("account.list", {}));
	const models = useQuery("models", () => app.call("stats.show", { per: "model" }));
	const lanes = Object.keys(app.status?.lanes ?? {});
	const known = (agents.value?.agents ?? []).map(
		({ name, problem, path }) => [name, problem || !path ? `${name} (not installed)` : name] as const,
	);
	return (
		<div class="grid">
			{isFor("agent", draft.kind) ? (
				<>
					<ChoiceField
						{...props}
						name="agent"
						label="Agent"
						none={draft.kind === "recipe" ? "as the recipe says" : "choose one"}
						options={known}
					/>
					<TextField
						{...props}
						name="model"
						label="Model"
						placeholder="the agent's own choice"
						options={(models.value?.groups ?? []).flatMap(({ name }) => (name === null || name.startsWith("(") ? [] : [name]))}
					/>
				</>
			) : null}
			<ChoiceField {...props} name="repo" label="Repo" none="none" options={names(repos.value?.repos)} />
			<ChoiceField
				{...props}
				name="lane"
				label="Lane"
				none="default"
				options={lanes.filter((one) => one !== "default").map((one) => [one, one])}
			/>
			<Labelled name="after" label="After" fault={faults.after}>
				<Complete
					id="job-after"
					value={draft.after}
					set={(after) => set({ after })}
					suggest={suggestJobs}
					placeholder="names or numbers of jobs"
					invalid={faults.after !== undefined}
					describedBy={faults.after ? "job-after-fault" : undefined}
				/>
			</Labelled>
			<TextField {...props} name="priority" label="Priority" placeholder="0" />
			<ChoiceField {...props} name="account" label="Account" none="as the lane says" options={names(accounts.value?.accounts)} />
			<label class="check">
				<input
					type="checkbox"
					checked={draft.requires_approval}
					onChange={(event) => set({ requires_approval: event.currentTarget.checked })}
				/>
				A person has to approve it first
			</label>
		</div>
	);
}

const MORE: readonly DraftText[] = [
	"name",
	"title",
	"batch",
	"owner",
	"retry",
	"timeout",
	"runnable_at",
	"locks",
	"cwd",
	"base_branch",
	"permission",
];

export function More(props: FieldProps) {
	const { draft, set, faults } = props;
	// What was filled in, or is wrong, is in sight.
	const isOpen = MORE.some((key) => draft[key] !== "" || faults[key] !== undefined) || Object.keys(draft.rest).length > 0;
	return (
		<details open={isOpen}>
			<summary>More</summary>
			<div class="grid">
				<TextField {...props} name="name" label="Name" hint="For others to wait for; no other open job has it." />
				<TextField {...props} name="title" label="Title" hint="A line for people." />
				<TextField {...props} name="batch" label="Batch" />
				<TextField {...props} name="owner" label="Owner" hint="Whose budget pays." />
				<TextField {...props} name="retry" label="Retries after a failure" placeholder="as the lane says" />
				<TextField {...props} name="timeout" label="Timeout" placeholder="30m" />
				<TextField {...props} name="runnable_at" label="Not before" type="datetime-local" />
				<TextField {...props} name="locks" label="Locks" hint="Held while it runs: db, files:shared." />
				<TextField {...props} name="cwd" label="Folder" hint="Where it runs without a repo: a whole path." />
				{draft.repo === "" ? null : (
					<>
						<TextField {...props} name="base_branch" label="Base branch" />
						<label class="check">
							<input type="checkbox" checked={draft.no_merge} onChange={(event) => set({ no_merge: event.currentTarget.checked })} />
							Do not merge its branch
						</label>
					</>
				)}
				{isFor("permission", draft.kind) ? (
					<ChoiceField
						{...props}
						name="permission"
						label="It may do without asking"
						none="edit files (usual)"
						options={[
							["ask", "only read"],
							["full", "everything"],
						]}
					/>
				) : null}
			</div>
			<Rest draft={draft} set={set} />
		</details>
	);
}

/** What a copy takes along besides; each can be left out. */
function Rest({ draft, set }: Omit<FieldProps, "faults">) {
	const rest = Object.entries(draft.rest);
	if (rest.length === 0) return null;
	return (
		<p class="rest">
			<span class="dim">Also copied:</span>{" "}
			{rest.map(([key, value]) => (
				<button
					key={key}
					type="button"
					class="chip filter"
					title={`Leave out: ${JSON.stringify(value)}`}
					onClick={() => set({ rest: Object.fromEntries(rest.filter(([one]) => one !== key)) })}
				>
					{key} <span aria-hidden="true">×</span>
				</button>
			))}
		</p>
	);
}
