// Methods of agents: which there are, how they are started, and how their output is judged.

import { FORMATS } from "../../core/agents/profile.ts";
import type { AgentDocument, ProfileDocument } from "../context.ts";
import type { JudgementDocument } from "../documents/judgement.ts";
import type { Doc } from "../documents.ts";
import { choice, maybe, text, viewerMethod, whole, word } from "../fields.ts";

/** Longer output goes through the command line, which reads files piece by piece. */
const MAX_OUTPUT_CHARACTERS = 4_000_000;

export const AGENT_METHODS = {
	"agent.list": viewerMethod<Doc<{ agents: AgentDocument[] }>>()({
		about: "Agents: built in or of the configuration; where each is installed, its version, whether there are signs of a login.",
		params: {},
		result:
			"{agents: [{name, built_in, output, program, path, version, tested, tested_older, newer, resumes, logged_in, accounts, keys: [{name, handed, daemon}], problem, hint}]}",
	}),
	"agent.show": viewerMethod<Doc<{ agent: ProfileDocument }>>()({
		about: "One agent with its profile: how it is started, resumed, stopped and read.",
		params: { name: word("the agent") },
		result:
			"{agent: {…, profile: {output, command, resume, open, model, permissions, allow, allow_tool, stop_signal, env, mcp, home_variable, outcomes?, usage?, session?}}}",
	}),
	"agent.judge": viewerMethod<Doc<JudgementDocument>>()({
		about: "What is made of recorded output: for writing and debugging profiles. Changes nothing.",
		params: {
			name: word("the agent"),
			stdout: text("what it wrote", MAX_OUTPUT_CHARACTERS),
			stderr: maybe(text("what it wrote to stderr", MAX_OUTPUT_CHARACTERS)),
			exit: whole("its exit code; 128 + n for a signal", 0, 255),
			format: maybe(choice("read it as the output of this one, whatever the configuration says", FORMATS)),
		},
		result:
			"{outcome, exit_kind, by?, until?, retry_after?, session_id?, session_gone?, usage, cost_micro?, message?, question?, not_understood?, version?}",
	}),
} as const;
