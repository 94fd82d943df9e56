// Hosts: each is in the state that the model has it in, and what became of them was told in events.

import { hostDifference } from "../model/hosts.ts";
import { type Checker, must } from "./moment.ts";

export const hosts: Checker = {
	name: "hosts",
	async check({ state, scheduler, events }) {
		const expected = state.told.sort();
		state.told = [];
		if (!state.fleet) return;
		const different = hostDifference(state, await scheduler.hosts());
		must(different === null, different ?? "");
		const said = events
			.filter(({ kind }) => kind.startsWith("host_"))
			.map(({ kind, data }) => `${kind} ${data.host}${kind === "host_lost" ? ` with ${data.runs}` : ""}`)
			.sort();
		must(said.join() === expected.join(), `events: ${said.join(", ") || "none"}; the model says ${expected.join(", ") || "none"}`);
	},
};
