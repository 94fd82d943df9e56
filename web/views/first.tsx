// The page before there is a job: the first commands.

import { app } from "../app.ts";

const STEPS: [command: string, does: string][] = [
	["sluice add -- echo hello", "one job: it runs at once, and appears here"],
	["sluice add --name build -- make", "a name, for others to wait for"],
	["sluice add --after build --lock deploy -- ./deploy.sh", "after that one, and alone with the lock"],
	['sluice add --agent claude --repo app "Fix the flaky test"', "an agent, in a worktree of its own"],
	["sluice why 3", "what a job waits for, in words"],
	["sluice apply work.yml", "a whole graph from a file"],
];

export function First() {
	return (
		<div class="first">
			<h1>Nothing here yet</h1>
			<p>Jobs that are added on the command line, by an agent or by a trigger appear here by themselves. To begin:</p>
			<ol>
				{STEPS.map(([command, does]) => (
					<li key={command}>
						<code>{command}</code>
						<span class="dim">{does}</span>
					</li>
				))}
			</ol>
			<p class="dim">
				This is the daemon of {app.me?.home ?? "your home"}, version {app.me?.version ?? "…"}. Press <kbd>?</kbd> for the keys.
			</p>
		</div>
	);
}
