// sluice serve: shares the daemon on the network with TLS, shows how it is shared, or ends that.

import type { Result } from "../../../api/protocol.ts";
import type { Call } from "../../command.ts";
import { CliFailure, usage } from "../../failure.ts";
import { absolutePath, answer, type Io } from "../../io.ts";
import { plain } from "../../printing/print.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const [listen, cert, key, names] = [call.text("listen"), call.text("cert"), call.text("key"), call.list("name")];
	const file = (path: string | undefined) => (path === undefined ? undefined : absolutePath(io.world, path));
	const isChange = listen !== undefined || cert !== undefined || names.length > 0 || call.flag("no-tls") || call.flag("off");
	if (listen === undefined && !call.flag("off")) {
		const { shared } = await io.ask("scheduler.version");
		if (isChange && shared === null) throw usage("--listen is missing", "for example sluice serve --listen 0.0.0.0:7443");
		if (!isChange) {
			answer(io, { schema_version: 1, shared }, () => printShared(shared, io));
			return;
		}
	}
	const document = await io.ask("scheduler.serve", {
		listen,
		certificate: file(cert),
		key: file(key),
		names: names.length > 0 ? [...names] : undefined,
		tls: call.flag("no-tls") ? "off" : undefined,
		off: call.flag("off") || undefined,
	});
	answer(io, document, () => printShared(document.shared, io));
}

function printShared(shared: Result<"scheduler.serve">["shared"], { print }: Io): void {
	if (shared === null) {
		print.say("the daemon listens on 127.0.0.1 alone: sluice serve --listen 0.0.0.0:7443 shares it on the network");
		return;
	}
	if (shared.problem !== null)
		throw new CliFailure("conflict", `not shared: ${shared.problem}`, "sluice serve --listen ADDRESS sets another address, --off ends it");
	print.out(plain(shared.url));
	print.say(`the daemon listens on ${plain(shared.address)}, also after a restart; sluice serve --off ends it`);
	if (shared.fingerprint !== null)
		print.say(`${shared.own_certificate ? "its own certificate" : "the certificate"}: SHA-256 fingerprint ${shared.fingerprint}`);
	if (shared.own_certificate)
		print.say(
			`browsers warn, as nobody has signed it: compare the fingerprint, then accept. curl: -k --pinnedpubkey '${plain(shared.pin)}'`,
		);
	print.say("sluice people add NAME --role operator makes a sign-in link");
}
