// How to sign in: a full page in a tab that was never signed in, and a panel above a page that was signed out, whose content stays.

import { useState } from "preact/hooks";
import { app } from "../app.ts";
import { monotonic } from "../outside.ts";
import { useNews } from "../parts/hooks.ts";
import { elapsed } from "../state/words.ts";

/** `ended`: why this page was signed out; null if it never was signed in. */
export function SignIn({ ended }: { ended: string | null }) {
	useNews("link");
	const { under, problem } = app.signing;
	return (
		<main class="door" id="main">
			<h1>{under ? "Signing in" : "Sign in"}</h1>
			{ended === null ? null : <p role="alert">{ended}.</p>}
			{problem === null ? null : <p role="alert">{problem}.</p>}
			<p>On the machine where the daemon runs:</p>
			<pre>sluice open</pre>
			<p>prints a link that signs in one page; with --viewer the page can only look. Open the link, or paste it here:</p>
			<LinkForm />
		</main>
	);
}

/** Not a dialog: the content of the page can still be read and copied. */
export function SignedOut() {
	useNews("link", "clock");
	const { heardAt, problem } = app.link;
	return (
		<div class="banner stale out">
			<p>
				<strong role="alert">{problem ?? "This page is signed out"}.</strong> You see how things stood {elapsed(monotonic() - heardAt)} ago.
				Run <code>sluice open</code> and open the link that it prints, or paste it here to go on in this page.
			</p>
			{app.signing.problem === null ? null : <p>{app.signing.problem}.</p>}
			<LinkForm />
		</div>
	);
}

function LinkForm() {
	const [link, set] = useState("");
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				if (link.trim() === "") return;
				set("");
				void app.signIn(link);
			}}
		>
			<label>
				Link
				<input type="password" autocomplete="off" value={link} onInput={(event) => set(event.currentTarget.value)} />
			</label>
			<button type="submit" class="main" disabled={app.signing.under}>
				Sign in
			</button>
		</form>
	);
}
