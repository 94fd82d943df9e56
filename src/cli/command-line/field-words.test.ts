// The daemon's message about a field is printed with the option that the caller typed.

import { expect, test } from "vitest";
import { COMMANDS } from "../catalogue.ts";
import { inTypedWords } from "./field-words.ts";

const command = (name: string) => COMMANDS.find((one) => one.name === name);

test.each([
	["add", "after[0]", 'after[0]: "1,2" is not a name', '--after: "1,2" is not a name'],
	["add", "uses.slot", "uses.slot: there is no such resource", "--uses slot: there is no such resource"],
	["add", "locks[1].key", "locks[1].key: is empty", "--lock key: is empty"],
	["add", "runnable_at", "runnable_at: is too far away", "--at: is too far away"],
	["add", "prompt", "prompt: is too long", "the prompt: is too long"],
	["cancel", "ids[0]", 'ids[0]: "1,2" is not a name', 'ID: "1,2" is not a name'],
	["sling", "jobs[0].base_branch", "jobs[0].base_branch: there is no such branch", "--base-branch: there is no such branch"],
	["add", "agent", "there is no agent x", "there is no agent x"],
	["add", "deadline", "deadline: is before the start time (runnable_at)", "--deadline: is before the start time (--at, --in)"],
	["down", undefined, "scheduler.down is not allowed inside a job", "sluice down is not allowed inside a job"],
	["list", "nonsense", "nonsense: is unknown", "nonsense: is unknown"],
])("%s: %s", (name, field, message, said) => expect(inTypedWords(message, field, command(name))).toBe(said));
