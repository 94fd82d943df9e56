// sluice open: the dashboard, or the folder of a job.

import type { Call } from "../../command.ts";
import { codeFor, signInLink } from "../../dashboard-link.ts";
import { CliFailure, usage } from "../../failure.ts";
import { answer, type Io, idOf } from "../../io.ts";
import { shellWord } from "../../printing/job-lines.ts";
import { plain } from "../../printing/print.ts";
import { printable } from "../../printing/sequences.ts";

function commandOf(path: string, { argv, env }: { argv: string[]; env: Record<string, string> }): string {
	const variables = Object.entries(env).map(([name, value]) => `${name}=${shellWord(value)} `);
	return printable(`cd ${shellWord(path)} && ${variables.join("")}${argv.map(shellWord).join(" ")}`);
}

/** The command that removes what `restore` created: the same repository, the same path. */
const removal = (restore: readonly string[], path: string): string => [...restore.slice(0, 4), "remove", path].map(shellWord).join(" ");

async function dashboard(call: Call, io: Io): Promise<undefined> {
	const role = call.flag("viewer") ? "viewer" : "admin";
	const { port, http_problem = null } = await io.ask("scheduler.version");
	if (port === null)
		throw new CliFailure(
			"no_daemon",
			`the daemon has no HTTP side, so there is no dashboard${http_problem === null ? "" : `: ${printable(http_problem)}`}`,
			"give it a port: sluice config set port 0 takes any free one, then: sluice down && sluice up --detach",
		);
	const { code, expires_at } = await codeFor(io, role);
	const link = signInLink(port, code);
	answer(io, { schema_version: 1, link, role, expires_at }, () => {
		io.print.out(link);
		if (http_problem !== null) io.print.say(printable(http_problem));
		const what =
			role === "viewer"
				? "this link signs in one page, which can look and change nothing"
				: "this link signs in one page, without a password";
		io.print.say(`${what}, within 10 minutes: keep it to yourself`);
	});
}

export async function run(call: Call, io: Io): Promise<undefined> {
	if (call.args("ID").length === 0) return dashboard(call, io);
	if (call.flag("viewer")) throw usage("--viewer is for the dashboard's link: it takes no job");
	const document = await io.ask("job.open", { id: idOf(call.arg("ID")) });
	answer(io, document, () => {
		io.print.out(plain(document.path));
		if (document.host !== null) io.print.say(`on host ${plain(document.host)}`);
		if (document.branch !== null) io.print.say(`branch ${plain(document.branch)}, from ${plain(document.base_branch)}`);
		if (document.session !== null) io.print.say(`session ${plain(document.session)}`);
		const { resume, restore = null } = document;
		const first = restore === null ? "" : `${printable(restore.map(shellWord).join(" "))} && `;
		if (resume) io.print.say(`go on with it: ${first}${commandOf(String(document.path), resume)}`);
		else if (restore !== null) io.print.say(`make it again: ${first}cd ${shellWord(String(document.path))}`);
		if (restore !== null)
			io.print.say(`its worktree was removed: that line makes it again. Afterwards: ${printable(removal(restore, String(document.path)))}`);
		if (document.there === null) io.print.say("that host does not answer: the folder may be gone");
		if (document.there === false && restore === null) io.print.say("the folder is gone; the next run makes it again");
	});
}
