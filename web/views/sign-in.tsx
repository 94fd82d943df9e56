// No token, or a wrong one: how to come in.

import { useState } from "preact/hooks";
import { app } from "../app.ts";

export function SignIn({ wrong }: { wrong: string | null }) {
	const [token, set] = useState("");
	return (
		<main class="door" id="main">
			<h1>{wrong === null ? "Sign in" : "This token does not open this daemon"}</h1>
			{wrong === null ? (
				<p>The dashboard needs a token. On the machine where the daemon runs:</p>
			) : (
				<p role="alert">{wrong}. It may be of another home, or the daemon has a new one. A fresh link:</p>
			)}
			<pre>sluice open</pre>
			<p>
				prints a link that signs you in; with --viewer it is one that can only look. Or paste the token itself, from the file token in the
				daemon's home:
			</p>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					if (token.trim() !== "") app.signIn(token.trim());
				}}
			>
				<label>
					Token
					<input type="password" autocomplete="off" value={token} onInput={(event) => set(event.currentTarget.value)} />
				</label>
				<button type="submit" class="main">
					Sign in
				</button>
			</form>
		</main>
	);
}
