// Which of the caller's variables a job keeps by default: those that programs need to work, and no secrets.

export const ALLOWED: readonly string[] = [
	"PATH",
	"HOME",
	"USER",
	"LOGNAME",
	"SHELL",
	"LANG",
	"LC_*",
	"TERM",
	"TZ",
	"TMPDIR",
	"SSH_AUTH_SOCK",
	"XDG_*",
	"NODE_EXTRA_CA_CERTS",
];

/**
 * Network settings. Runs get these from the environment of the daemon that starts them, whatever `env` says: a proxy's address may hold a password, and a
 * variable kept with a job would put it into the store.
 */
export const NETWORK: readonly string[] = [
	...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
	"SSL_CERT_FILE",
	"SSL_CERT_DIR",
	"REQUESTS_CA_BUNDLE",
	"CURL_CA_BUNDLE",
	"GIT_SSL_CAINFO",
	"NODE_EXTRA_CA_CERTS",
];
