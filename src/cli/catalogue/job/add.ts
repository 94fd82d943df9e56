// Descriptions of `add` and `apply`.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what manifests write

import { AGENT_NAMES } from "../../../core/agents/profile.ts";
import type { Field } from "../../../core/schema/field.ts";
import { JOB, type JobKey } from "../../../core/schema/job.ts";
import { type CommandSpec, flag, list, type OptionSpec, text } from "../../command.ts";

/** An option that sets a field of the job. Its name, its choices and, unless `more` has another text for people, its help are those of the field. */
function sets(field: JobKey, value: string, more: Partial<OptionSpec> = {}): OptionSpec {
	const { about, options }: Field = JOB[field];
	return { name: field.replaceAll("_", "-"), type: "text", value, help: about, ...(options ? { choices: options } : {}), field, ...more };
}

export const ADD: CommandSpec = {
	name: "add",
	help: "Add one job: a command, an agent with a prompt, or a payload for a worker of your own.",
	more: [
		"The job's number goes to stdout. The folder you are in, PATH and the variables that the setting `env` allows go with the job.",
		"Inside a run, the new job becomes a child of the run's job. It has no more permission than that job, unless that was added with --may-add.",
		"`Queue delayed; respecting caps (default: 17)`: more jobs wait than `queue.soft_limit`, here 17 in lane default. All of them are in the queue, and nothing is wrong; `config set queue.soft_limit N` sets when this is said, --quiet leaves it out.",
		"Exit code 75: the queue is full (`queue.hard_limit`), try later.",
	],
	args: [{ name: "PROMPT", help: "What the agent shall do; - reads it from stdin.", take: "optional" }],
	rest: { name: "CMD…", help: "The command, taken word by word: no shell reads it." },
	options: [
		sets("agent", "NAME", { help: "Run this agent with PROMPT.", completes: AGENT_NAMES }),
		text("prompt-file", "FILE", "Read the prompt from a file; - is stdin.", { completes: "file", sought: ["prompt", "file"] }),
		sets("model", "NAME"),
		sets("permission", "MODE"),
		sets("may_add", "MODE", {
			help: "Upper limit for the permission of jobs that its runs add; else its own permission. full: everything, plain commands too.",
		}),
		sets("allow", "CMD", { type: "list", help: "The agent may run shell commands that begin like this, at permission edit." }),
		sets("expect", "WHAT", {
			help: "With `change`, a run that changed nothing asks you; with `none`, what its last words ask does not count.",
		}),
		sets("commit", "MODE", {
			help: "Uncommitted work at the end of a good run. auto: commit it; never: ignore it; agent: ask a person.",
		}),
		text(
			"payload",
			"JSON",
			"JSON for the job, at most 1 MB, kept as it was given; @FILE reads a file. A run finds it in the file that SLUICE_PAYLOAD names. Alone: a job for an outside worker.",
			{ completes: "file" },
		),
		sets("name", "NAME", { help: "A name that no open job has; good wherever an id is asked for. Free again when the job has ended." }),
		sets("title", "TEXT", { help: "A line for people; any text.", sought: ["label"] }),
		sets("lane", "NAME", { completes: "lane", sought: ["group"] }),
		sets("priority", "N", { type: "number", sought: ["prio"] }),
		list("after", "ID[:POLICY]", "Wait for a job: success (default), failure, any or merged.", {
			completes: "job",
			sought: ["dep", "depends", "depends-on", "dependencies", "deps"],
		}),
		sets("needs", "ARTIFACT", {
			type: "list",
			help: "Needs this artifact, such as file:out/a.txt or patch:JOB; blocked if it is missing and nothing produces it (--on-missing wait to wait for it).",
			sought: ["need", "requires"],
		}),
		sets("on_missing", "WHAT", { help: "If what it needs is missing and no job produces it. block: end the job; wait: wait for it." }),
		sets("produces", "ARTIFACT", { type: "list", help: "What it makes." }),
		sets("locks", "KEY[:shared]", { name: "lock", type: "list", help: "Hold this lock while it runs.", sought: ["locks"] }),
		sets("serial", "GROUP", { help: "One at a time among the jobs of the group.", sought: ["parallelizable"] }),
		text("pin", "BRANCH[@COMMIT]", "Start only while the branch is where it is now, in --repo or else in this folder.", {
			sought: ["pinned-head"],
		}),
		sets("conditions", "CONDITION", {
			name: "if",
			type: "list",
			help: "Start only if: clean_worktree or branch_exists:NAME.",
			sought: ["conditions", "condition", "when"],
		}),
		text("parent", "ID", "The job it belongs to, by number or name; none for none.", { completes: "job" }),
		sets("parent_gate", "WHAT"),
		text("at", "TIME", "Not before: 18:30, 2030-01-31T08:00, or RFC 3339.", { sought: ["runnable-at", "start", "not-before"] }),
		text("in", "DURATION", "Do not start before this time has passed: 30s, 5m, 1h30m.", { sought: ["delay"] }),
		text("deadline", "TIME", "Expire if not started by then; a time, or 2h from now."),
		sets("retry", "N", {
			name: "retries",
			type: "number",
			help: "Maximum number of retries after a failure.",
			sought: ["retry", "max-retries"],
		}),
		sets("timeout", "DURATION", { help: "Stop a run that takes longer." }),
		sets("stall_timeout", "DURATION", { help: "Stop a run that is silent for longer." }),
		sets("owner", "NAME", { help: "The owner whose budget pays for it." }),
		sets("account", "NAME", { help: "The provider account whose quota it uses." }),
		list("uses", "RESOURCE:N", "Takes so much of a resource while it runs.", { sought: ["resource", "resources"] }),
		sets("host_labels", "LABEL", {
			name: "host",
			type: "list",
			help: "Only on a host with this label.",
			sought: ["host-labels", "labels"],
		}),
		sets("repo", "NAME"),
		sets("base_branch", "BRANCH", { sought: ["branch", "base"] }),
		sets("merge", "HOW"),
		flag("no-merge", "Do not merge its branch.", { field: "no_merge" }),
		flag("capture-diff", "Give it what is uncommitted here now, as input.patch.", {
			sought: ["diff", "patch", "input-patch"],
			field: "capture_diff",
		}),
		sets("recipe", "NAME"),
		list("var", "KEY=VALUE", "A variable of the recipe.", { sought: ["vars"] }),
		sets("args", "TEXT"),
		sets("item", "ID"),
		sets("source", "NAME"),
		sets("phase", "NAME"),
		sets("trigger", "WORD"),
		sets("batch", "NAME", { help: "Track it together with others.", sought: ["convoy"] }),
		text("unique", "KEY[:POLICY]", "One open job with this key; else skip (default), replace or error.", {
			sought: ["dedupe", "unique-key"],
		}),
		text("unique-for", "DURATION", "Also against jobs added within this time."),
		flag("hold", "Hold it from the start: it does not start before you release it.", { sought: ["stashed", "held"], field: "hold" }),
		flag("needs-approval", "Do not start before a person approves it.", {
			sought: ["requires-approval", "approval", "approve"],
			field: "requires_approval",
		}),
		list("env", "NAME[=VALUE]", "Set a variable, or take over yours."),
		text("cwd", "FOLDER", "Where it runs; else where you are.", {
			completes: "folder",
			sought: ["dir", "folder", "chdir", "workdir", "working-directory"],
		}),
		flag("force", "Add it even if limits or settings are against it."),
		flag("wait", "Wait until it has ended; exit 0 if it succeeded, else 1. Ctrl-C leaves the job running."),
		flag("follow", "Wait, and show its output meanwhile.", { short: "f" }),
	],
	excludes: [
		["at", "in"],
		["merge", "no-merge"],
	],
	requires: [
		["unique-for", "unique"],
		["source", "item"],
		["var", "recipe"],
	],
	examples: [
		["sluice add -- make test", "run a command"],
		["sluice add --after 7 --lock db --retries 2 -- ./migrate.sh", "once job 7 has succeeded, alone on db, tried three times at most"],
		['sluice add --agent claude --lane code "Fix the flaky test in src/queue"', "an agent with a prompt"],
		["sluice add --in 30m --wait -- ./nightly.sh", "half an hour from now; stay until it has ended"],
		["sluice add --payload @task.json --lane import", "for an outside worker"],
	],
	load: () => import("../../commands/job/add.ts"),
};

export const APPLY: CommandSpec = {
	name: "apply",
	help: "Add all jobs of a manifest (YAML or JSON), or none of them.",
	more: [
		"A manifest has `jobs` (a list, or a map by name), and perhaps `defaults` and `batch`. A job takes what `add` takes, under the names of its JSON document.",
		"`for_each` makes several jobs of one: a list (${item}, or the keys of each entry), or a map (${key}, ${value}; of lists: every combination). `$${` is `${` itself.",
		"A job without a `cwd` runs in the manifest's folder, and a relative `cwd` begins there.",
		"Jobs are known by their names. The same file again, while its jobs are open, changes nothing; a changed file is refused without --update, one whose jobs have all ended without --again (exit code 4).",
	],
	args: [{ name: "FILE", help: "The manifest; - is stdin.", take: "optional", completes: "file" }],
	options: [
		flag("check", "Add nothing: check it, and show what would run in which wave."),
		flag("update", "The file was changed: change the jobs that wait, add what is new, leave what runs."),
		flag("again", "All its jobs have ended: run it anew."),
		flag("force", "Add them even if limits or settings are against it."),
		flag("schema", "Print the JSON Schema of manifests, for editors."),
	],
	excludes: [
		["schema", "check"],
		["schema", "force"],
		["schema", "update"],
		["schema", "again"],
		["update", "again"],
	],
	examples: [
		["sluice apply --check release.yml", "is it right, and what comes after what?"],
		["sluice apply release.yml", "add them all"],
		["sluice apply --again release.yml", "all of it has ended: once more"],
		["sluice apply --schema > manifest.schema.json", "for an editor that checks as you type"],
	],
	load: () => import("../../commands/job/apply.ts"),
};
