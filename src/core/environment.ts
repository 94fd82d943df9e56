// Which of the caller's variables go with a job when nothing else is set: what programs need to find their way, and no secrets.

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
 * How to reach the network from here. Runs get these from the environment of the daemon that starts them, whatever `env` says: the address of a proxy may hold a
 * password, so it is not taken along with a job, which would keep it in the store.
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
