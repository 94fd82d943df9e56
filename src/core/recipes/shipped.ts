// The recipes that come with Sluice, in the form of their files. A file of the same name in the home or in a repo replaces one.

const TASK = "{{title}}\n\n{{text}}";
const END = "{{args}}";
/** An agent may commit itself; Sluice commits the rest. */
const COMMIT = "What you leave uncommitted is committed when you end.";
/** How an agent reports what its last message cannot: names both the tool and the command, because its permission may leave only one of them. */
const VOICE =
	'If you cannot do it, call the tool run_fail with the reason, or run: sluice verdict fail "the reason". If a person has to decide something first, call run_ask, or run: sluice verdict ask "the question". Then end.';
const REPORT = "What the next step should know, report with the tool run_result, or with the command sluice result and a JSON object.";
const REFUSE =
	'If it must not be merged, call the tool run_fail with the reason, or run: sluice verdict fail "the reason"; your words alone do not keep it from being merged. If a person has to decide, call run_ask, or run: sluice verdict ask "the question".';
/** All steps of a pipeline write to one branch; the last step passes it to the merge queue. */
const BRANCH = "sluice/{{item}}";

/** A step that hands its branch on to the next one. */
const UNMERGED = { worktree: BRANCH, no_merge: true };
const merge = {
	name: "merge",
	title: "Merge {{item}} into {{repo}}",
	// Does nothing itself: a job that succeeds has its branch merged.
	command: ["true"],
	worktree: BRANCH,
};

export const SHIPPED: Record<string, Record<string, unknown>> = {
	work: {
		description: "One agent does the item, from reading it to the commit.",
		agent: "claude",
		title: "{{item}}: {{title}}",
		prompt: `Work on ${"{{item}}"}: ${TASK}\n\nRead what is there first. Make the change and commit it with a message that says why. {{testing}} ${COMMIT} Do nothing that the task does not ask for.\n\n${VOICE}\n\n${END}`,
	},
	implement: {
		description: "A card's flow implement: the change, its tests, a commit.",
		agent: "claude",
		title: "Implement {{item}}: {{title}}",
		prompt: `Implement ${"{{item}}"}: ${TASK}\n\nMake the change with its tests, and commit it. {{testing}} ${COMMIT}\n\n${VOICE}\n\n${END}`,
	},
	review: {
		description: "A card's flow review: what was done, against what was asked for.",
		agent: "claude",
		expect: "none",
		title: "Review {{item}}: {{title}}",
		prompt: `Review what has been done for ${"{{item}}"}: ${TASK}\n\nName each fault with its place. ${REFUSE}\n\n${END}`,
	},
	research: {
		description: "A card's flow research: what is known, and what it means for the task.",
		agent: "claude",
		expect: "none",
		title: "Research {{item}}: {{title}}",
		prompt: `Find out what is needed to do ${"{{item}}"}: ${TASK}\n\nWrite down what you found, with its sources, and what you would do. Change no code.\n\n${VOICE} ${REPORT}\n\n${END}`,
	},
	"implement-review-merge": {
		description: "implement → review → merge, on one branch.",
		agent: "claude",
		steps: [
			{
				name: "implement",
				expect: "change",
				title: "Implement {{item}}: {{title}}",
				prompt: `Implement ${"{{item}}"}: ${TASK}\n\nMake the change with its tests, and commit it. {{testing}} ${COMMIT}\n\n${VOICE} ${REPORT}\n\n${END}`,
				...UNMERGED,
			},
			{
				name: "review",
				expect: "none",
				title: "Review {{item}}: {{title}}",
				prompt: `Review the commits on this branch, which should do ${"{{item}}"}: ${TASK}\n\nWhat the step before reported: ${"{{after.implement.result}}"}\n\nMend what is small, and commit that. {{testing}} ${REFUSE}`,
				...UNMERGED,
			},
			merge,
		],
	},
	"research-implement": {
		description: "research → implement: first what is known, then the change, on one branch.",
		agent: "claude",
		steps: [
			{
				name: "research",
				...UNMERGED,
				produces: ["file:research/{{item}}.md"],
				lane: "research",
				title: "Research {{item}}: {{title}}",
				prompt: `Find out what is needed to do ${"{{item}}"}: ${TASK}\n\nWrite what you found into research/${"{{item}}"}.md. Change no code.\n\n${VOICE} ${REPORT}\n\n${END}`,
			},
			{
				name: "implement",
				expect: "change",
				worktree: BRANCH,
				needs: ["file:research/{{item}}.md"],
				lane: "implement",
				title: "Implement {{item}}: {{title}}",
				prompt: `Implement ${"{{item}}"}: ${TASK}\n\nresearch/${"{{item}}"}.md has what is known. What the step before reported: ${"{{after.research.result}}"}\n\nMake the change with its tests, and commit it. {{testing}} ${COMMIT}\n\n${VOICE}\n\n${END}`,
			},
		],
	},
	"plan-spec-phase-code": {
		description: "plan → spec → phase → code: each step makes the next one smaller, in a lane of its own, on one branch.",
		agent: "claude",
		steps: [
			{
				name: "plan",
				...UNMERGED,
				produces: ["file:plans/{{item}}/plan.md"],
				lane: "plan",
				title: "Plan {{item}}: {{title}}",
				prompt: `Plan ${"{{item}}"}: ${TASK}\n\nWrite the goal, what is in and what is out, and the risks into plans/${"{{item}}"}/plan.md.\n\n${VOICE}\n\n${END}`,
			},
			{
				name: "spec",
				...UNMERGED,
				needs: ["file:plans/{{item}}/plan.md"],
				produces: ["file:plans/{{item}}/spec.md"],
				lane: "spec",
				title: "Specify {{item}}: {{title}}",
				prompt: `From plans/${"{{item}}"}/plan.md write plans/${"{{item}}"}/spec.md: what it does, seen from outside, so that it can be tested.\n\n${VOICE}`,
			},
			{
				name: "phase",
				...UNMERGED,
				needs: ["file:plans/{{item}}/spec.md"],
				produces: ["file:plans/{{item}}/phases.md"],
				lane: "phase",
				title: "Cut {{item}} into phases: {{title}}",
				prompt: `From plans/${"{{item}}"}/spec.md write plans/${"{{item}}"}/phases.md: steps that can each be built, tested and merged alone.\n\n${VOICE}`,
			},
			{
				name: "code",
				expect: "change",
				worktree: BRANCH,
				needs: ["file:plans/{{item}}/phases.md"],
				lane: "code",
				title: "Build {{item}}: {{title}}",
				prompt: `Build what plans/${"{{item}}"}/phases.md says, phase by phase, with tests, a commit each. {{testing}} ${COMMIT}\n\n${VOICE}`,
			},
		],
	},
	"materialize-approve-review-merge": {
		description: "materialize → approve → review → merge: a person looks at what was made before it goes on.",
		agent: "claude",
		steps: [
			{
				name: "materialize",
				expect: "change",
				title: "Materialize {{item}}: {{title}}",
				prompt: `Make what ${"{{item}}"} asks for: ${TASK}\n\nCommit it on this branch. ${COMMIT}\n\n${VOICE}\n\n${END}`,
				...UNMERGED,
			},
			{
				name: "approve",
				// On the branch, so that its diff shows what the branch has.
				...UNMERGED,
				title: "Approve {{item}}: {{title}}",
				command: ["true"],
				requires_approval: true,
			},
			{
				name: "review",
				expect: "none",
				title: "Review {{item}}: {{title}}",
				prompt: `Review the commits on this branch, which should do ${"{{item}}"}: ${TASK}\n\n${REFUSE}`,
				...UNMERGED,
			},
			merge,
		],
	},
};
