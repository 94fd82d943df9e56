# A client of the kernel contract in plain Python 3, standard library only: JSON-RPC 2.0, one message a line, over a daemon's socket.
#
#   kernel-client.py check SOCKET           every method, default, result and error code; prints one line for each step, exits 1 at the first that differs
#   kernel-client.py work SOCKET WORKER     claims and completes entries until none is left; prints the ids it got, as JSON
#   kernel-client.py hidden SOCKET          every method must be unknown

import json
import socket
import sys
import time


class RpcError(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data", {})


class Kernel:
    """kernel.sched.claim(worker_id="w") is client.sched.claim(worker_id="w")."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.lines = self.socket.makefile("r", encoding="utf-8")
        self.last_id = 0
        self.sched = Noun(self, "sched")
        self.agent = Noun(self, "agent")
        self.ledger = Noun(self, "ledger")

    def call(self, method, params):
        self.last_id += 1
        request = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        self.socket.sendall((json.dumps(request) + "\n").encode("utf-8"))
        answer = json.loads(self.lines.readline())
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.last_id, answer
        if "error" in answer:
            raise RpcError(answer["error"])
        return answer["result"]


class Noun:
    def __init__(self, client, name):
        self.client = client
        self.name = name

    def __getattr__(self, verb):
        return lambda **params: self.client.call(f"kernel.{self.name}.{verb}", params)


ILLEGAL, UNKNOWN_ID, INVALID, BAD_FILTER = -32131, -32132, -32133, -32135
FIELDS = {
    "sched_id", "pid", "priority", "runnable_at", "deadline", "trigger", "payload", "state",
    "worker_id", "created_at", "dispatched_at", "completed_at", "exit_kind",
}
METHODS = [
    "import",
    "sched.enqueue", "sched.enqueue_unique", "sched.claim", "sched.complete", "sched.cancel", "sched.get", "sched.list",
    "sched.gc_expired", "sched.gc_dispatched", "sched.extend",
    "agent.create", "agent.transition", "agent.get", "agent.list",
    "ledger.grant", "ledger.update_grant", "ledger.charge", "ledger.refund", "ledger.check", "ledger.get", "ledger.list_breached",
]


def same(what, got, expected):
    if got != expected:
        print(f"DIFFERS {what}: got {got!r}, expected {expected!r}")
        sys.exit(1)
    print(f"ok {what}")


def refused(what, code, call):
    try:
        got = call()
    except RpcError as error:
        same(f"{what} is refused", error.code, code)
        return
    same(what, f"accepted: {got!r}", f"refused with {code}")


def check(k):
    now = time.time()

    # agents
    made = k.agent.create(name="researcher")
    pid = made["pid"]
    same("agent.create", made, {"pid": pid, "state": "READY"})
    same("create does not enqueue", k.sched.list(), {"entries": [], "total": 0})
    same("agent.transition", k.agent.transition(pid=pid, to="RUNNING"), {"pid": pid, "state": "RUNNING", "prev_state": "READY"})
    same("agent.get", k.agent.get(pid=pid), {"pid": pid, "name": "researcher", "state": "RUNNING"})
    dead = k.agent.create(name="dead")["pid"]
    same("pids are not reused", dead, pid + 1)
    k.agent.transition(pid=dead, to="DEAD")
    refused("a dead agent's transition", ILLEGAL, lambda: k.agent.transition(pid=dead, to="READY"))
    refused("an unknown agent", INVALID, lambda: k.agent.get(pid=999))
    refused("an unknown state", INVALID, lambda: k.agent.transition(pid=pid, to="ASLEEP"))
    refused("an agent without a name", INVALID, lambda: k.agent.create())
    same("agent.list", [(a["pid"], a["state"]) for a in k.agent.list()["agents"]], [(pid, "RUNNING"), (dead, "DEAD")])

    # enqueue: defaults, and all of it
    one = k.sched.enqueue(pid=pid)
    same("enqueue answers with an id alone", list(one), ["sched_id"])
    one = one["sched_id"]
    entry = k.sched.get(sched_id=one)
    same("an entry's fields", set(entry), FIELDS)
    defaults = {key: entry[key] for key in FIELDS - {"created_at"}}
    same(
        "enqueue's defaults",
        defaults,
        {
            "sched_id": one, "pid": pid, "priority": 0, "runnable_at": 0, "deadline": None, "trigger": "manual", "payload": {},
            "state": "queued", "worker_id": None, "dispatched_at": None, "completed_at": None, "exit_kind": None,
        },
    )
    same("created_at is epoch seconds", abs(entry["created_at"] - now) < 60, True)
    whole = {"pid": pid, "priority": 5, "runnable_at": now - 1.5, "deadline": now + 3600.25, "trigger": "cron", "payload": {"step": [1, "二"]}}
    two = k.sched.enqueue(**whole)["sched_id"]
    entry = k.sched.get(sched_id=two)
    same("enqueue keeps what it was given", {key: entry[key] for key in whole}, whole)
    refused("enqueue without a pid", INVALID, lambda: k.sched.enqueue())
    refused("enqueue for an unknown pid", INVALID, lambda: k.sched.enqueue(pid=999))
    refused("enqueue for a dead one", INVALID, lambda: k.sched.enqueue(pid=dead))
    refused("a priority that is text", INVALID, lambda: k.sched.enqueue(pid=pid, priority="high"))
    refused("a trigger that is empty", INVALID, lambda: k.sched.enqueue(pid=pid, trigger=""))
    refused("a payload that is no object", INVALID, lambda: k.sched.enqueue(pid=pid, payload=[1]))
    refused("a time before the epoch", INVALID, lambda: k.sched.enqueue(pid=pid, runnable_at=-1))
    refused("a field that is not there", INVALID, lambda: k.sched.enqueue(pid=pid, wait_for=1))

    # claim: order, one by default
    refused("claim without a worker", INVALID, lambda: k.sched.claim())
    refused("claim of less than nothing", INVALID, lambda: k.sched.claim(worker_id="w", max_n=-1))
    got = k.sched.claim(worker_id="w1")["entries"]
    same("claim takes one, the highest priority", [e["sched_id"] for e in got], [two])
    same("a claimed entry", (got[0]["state"], got[0]["worker_id"], got[0]["exit_kind"]), ("dispatched", "w1", None))
    same("dispatched_at is epoch seconds", abs(got[0]["dispatched_at"] - now) < 60, True)
    refused("cancel of a dispatched one", ILLEGAL, lambda: k.sched.cancel(sched_id=two))

    # extend, complete
    same("extend", k.sched.extend(sched_id=two, worker_id="w1"), {"sched_id": two, "cancel_requested": False})
    refused("extend by another", ILLEGAL, lambda: k.sched.extend(sched_id=two, worker_id="w2"))
    refused("complete by another", ILLEGAL, lambda: k.sched.complete(sched_id=two, exit_kind="completed", worker_id="w2"))
    refused("complete with another word", INVALID, lambda: k.sched.complete(sched_id=two, exit_kind="done"))
    refused("complete of a queued one", ILLEGAL, lambda: k.sched.complete(sched_id=one, exit_kind="completed"))
    refused("complete of an unknown one", UNKNOWN_ID, lambda: k.sched.complete(sched_id=999, exit_kind="completed"))
    same(
        "complete",
        k.sched.complete(sched_id=two, exit_kind="completed", worker_id="w1"),
        {"sched_id": two, "state": "completed", "prev_state": "dispatched"},
    )
    entry = k.sched.get(sched_id=two)
    same("a completed entry", (entry["state"], entry["exit_kind"], entry["completed_at"] is not None), ("completed", "completed", True))
    refused("complete twice", ILLEGAL, lambda: k.sched.complete(sched_id=two, exit_kind="completed"))

    # cancel
    same("cancel", k.sched.cancel(sched_id=one), {"sched_id": one, "state": "cancelled"})
    refused("cancel twice", ILLEGAL, lambda: k.sched.cancel(sched_id=one))
    refused("cancel of an unknown one", UNKNOWN_ID, lambda: k.sched.cancel(sched_id=999))
    refused("get of an unknown one", UNKNOWN_ID, lambda: k.sched.get(sched_id=999))
    refused("get without an id", INVALID, lambda: k.sched.get())

    # every way to end
    for exit_kind in ("completed", "cancelled", "failed", "crashed"):
        sched_id = k.sched.enqueue(pid=pid)["sched_id"]
        k.sched.claim(worker_id="w1")
        same(f"complete as {exit_kind}", k.sched.complete(sched_id=sched_id, exit_kind=exit_kind)["state"], "completed")
        same(f"{exit_kind} is kept", k.sched.get(sched_id=sched_id)["exit_kind"], exit_kind)

    # time: not before runnable_at, not after deadline; the caller's clock counts
    later = k.sched.enqueue(pid=pid, runnable_at=now + 1000)["sched_id"]
    late = k.sched.enqueue(pid=pid, deadline=now + 500)["sched_id"]
    same("a delayed one is invisible", [e["sched_id"] for e in k.sched.claim(worker_id="w", max_n=9, now=now + 600)["entries"]], [])
    same("gc_expired before its time", k.sched.gc_expired(now=now + 400), {"swept": 0})
    same("gc_expired", k.sched.gc_expired(now=now + 600), {"swept": 1})
    same("an expired entry", k.sched.get(sched_id=late)["state"], "expired")
    same("gc_expired by the server's clock", k.sched.gc_expired(), {"swept": 0})
    refused("expired is for ever", ILLEGAL, lambda: k.sched.cancel(sched_id=late))
    got = k.sched.claim(worker_id="w", max_n=9, now=now + 1001)["entries"]
    same("its time comes", [e["sched_id"] for e in got], [later])

    # a worker that went silent
    same("gc_dispatched leaves the fresh", k.sched.gc_dispatched(stale_seconds=3600), {"swept": 0})
    same("gc_dispatched", k.sched.gc_dispatched(stale_seconds=0), {"swept": 1})
    same("back in the queue", k.sched.get(sched_id=later)["state"], "queued")
    refused("gc_dispatched needs to know how long", INVALID, lambda: k.sched.gc_dispatched())
    k.sched.cancel(sched_id=later)

    # order: priority, runnable_at, id
    order = [
        k.sched.enqueue(pid=pid, priority=1, runnable_at=now - 5)["sched_id"],
        k.sched.enqueue(pid=pid, priority=1, runnable_at=now - 9)["sched_id"],
        k.sched.enqueue(pid=pid, priority=2)["sched_id"],
        k.sched.enqueue(pid=pid, priority=1, runnable_at=now - 9)["sched_id"],
    ]
    got = [e["sched_id"] for e in k.sched.claim(worker_id="w", max_n=1000)["entries"]]
    same("strict order", got, [order[2], order[1], order[3], order[0]])
    for sched_id in order:
        k.sched.complete(sched_id=sched_id, exit_kind="completed")

    # enqueue_unique
    first = k.sched.enqueue_unique(pid=pid, trigger="cron", dedupe_by=["pid", "trigger"])
    same("enqueue_unique makes one", first["created"], True)
    again = k.sched.enqueue_unique(pid=pid, trigger="cron", priority=9, dedupe_by=["pid", "trigger"])
    same("and not a second", again, {"sched_id": first["sched_id"], "created": False})
    other = k.sched.enqueue_unique(pid=pid, trigger="event", dedupe_by=["pid", "trigger"])
    same("another trigger is another", other["created"], True)
    refused("dedupe by what is no field", INVALID, lambda: k.sched.enqueue_unique(pid=pid, dedupe_by=["payload"]))
    usual = k.sched.enqueue_unique(pid=pid, trigger="cron", priority=3)
    same("by pid and trigger, where nothing is said", usual, {"sched_id": first["sched_id"], "created": False})
    opaque = {"message_id": 1234567890123456789, "10": 1, "9": 2, "share": 1.0, "nul": "\0"}
    big = k.sched.enqueue(pid=pid, trigger="big", payload=opaque)["sched_id"]
    same("a payload comes back as it was sent", json.dumps(k.sched.get(sched_id=big)["payload"]), json.dumps(opaque))
    k.sched.cancel(sched_id=big)

    # list
    same("list by state", [e["sched_id"] for e in k.sched.list(state="queued")["entries"]], [first["sched_id"], other["sched_id"]])
    same("list by pid", k.sched.list(pid=dead), {"entries": [], "total": 0})
    page = k.sched.list(limit=2, offset=1)
    same("list by page", (len(page["entries"]), page["entries"][0]["sched_id"]), (2, two))
    same("total counts all", page["total"] > 10, True)
    for state in ("queued", "dispatched", "completed", "expired", "cancelled"):
        same(f"list {state}", {e["state"] for e in k.sched.list(state=state)["entries"]} <= {state}, True)
    refused("list by a state that is none", BAD_FILTER, lambda: k.sched.list(state="running"))
    refused("list of less than nothing", INVALID, lambda: k.sched.list(limit=-1))
    for sched_id in (first["sched_id"], other["sched_id"]):
        k.sched.cancel(sched_id=sched_id)
    for n in range(105):
        k.sched.enqueue(pid=pid, payload={"n": n})
    same("list gives 100 by default", len(k.sched.list(state="queued")["entries"]), 100)
    for e in k.sched.claim(worker_id="w", max_n=1000)["entries"]:
        k.sched.complete(sched_id=e["sched_id"], exit_kind="completed")

    # ledgers, and admission
    granted = k.ledger.grant(pid=pid, dim="tokens", limit=100, warn_at=0.5)
    same("ledger.grant", (granted["used"], granted["limit"], granted["over_limit"], granted["window"]), (0, 100, False, None))
    same("a charge", k.ledger.charge(pid=pid, dim="tokens", amount=40), charge(40, 100))
    same("one that warns", k.ledger.charge(pid=pid, dim="tokens", amount=20), charge(60, 100, warned=True))
    same("check within", k.ledger.check(pid=pid, dim="tokens", amount=40), {"would_exceed": False})
    same("check beyond", k.ledger.check(pid=pid, dim="tokens", amount=41), {"would_exceed": True})
    same("used up is not over", k.ledger.charge(pid=pid, dim="tokens", amount=40)["over_limit"], False)
    waiting = k.sched.enqueue(pid=pid)["sched_id"]
    over = k.ledger.charge(pid=pid, dim="tokens", amount=1)
    same("over the limit", over, charge(101, 100, over_limit=True, first_breach=True))
    same("told once", k.ledger.charge(pid=pid, dim="tokens", amount=0)["first_breach"], False)
    same("list_breached", [(l["dim"], l["used"]) for l in k.ledger.list_breached()["ledgers"]], [("tokens", 101)])
    same("admission skips", k.sched.claim(worker_id="w"), {"entries": []})
    same("and changes nothing", k.sched.get(sched_id=waiting)["state"], "queued")
    same("refund", k.ledger.refund(pid=pid, dim="tokens", amount=1), {"used": 100, "limit": 100, "over_limit": False})
    k.ledger.charge(pid=pid, dim="tokens", amount=1)
    got = k.sched.claim(worker_id="w", admission_check=False)["entries"]
    same("unless it is told not to", [e["sched_id"] for e in got], [waiting])
    k.sched.gc_dispatched(stale_seconds=0)
    same("update_grant", k.ledger.update_grant(pid=pid, dim="tokens", limit=1000)["limit"], 1000)
    same("and it goes", [e["sched_id"] for e in k.sched.claim(worker_id="w")["entries"]], [waiting])
    same("claims charge nothing", [(l["dim"], l["used"]) for l in k.ledger.get(pid=pid)["ledgers"]], [("tokens", 101)])
    refused("an amount that is no number", INVALID, lambda: k.ledger.charge(pid=pid, dim="tokens", amount="1"))
    refused("an amount below zero", INVALID, lambda: k.ledger.charge(pid=pid, dim="tokens", amount=-1))
    refused("a ledger of nobody", INVALID, lambda: k.ledger.grant(pid=999, dim="tokens", limit=1))
    refused("a limit that is missing", INVALID, lambda: k.ledger.grant(pid=pid, dim="tokens"))
    same("a window", k.ledger.grant(pid=pid, dim="cost", limit=5, window="day")["window"], "day")

    # the rest of JSON-RPC
    refused("a method that is not there", -32601, lambda: k.sched.preempt(sched_id=1))
    print("done")


def charge(used, limit, over_limit=False, warned=False, first_breach=False):
    return {"used": used, "limit": limit, "over_limit": over_limit, "warned": warned, "first_breach": first_breach}


def work(k, worker):
    mine = []
    while True:
        entries = k.sched.claim(worker_id=worker, max_n=1)["entries"]
        if not entries:
            print(json.dumps(mine))
            return
        for entry in entries:
            mine.append(entry["sched_id"])
            k.sched.complete(sched_id=entry["sched_id"], exit_kind="completed", worker_id=worker)


def hidden(k):
    for method in METHODS:
        refused(method, -32601, lambda: k.call(f"kernel.{method}", {}))
    print("done")


if __name__ == "__main__":
    kernel = Kernel(sys.argv[2])
    if sys.argv[1] == "check":
        check(kernel)
    elif sys.argv[1] == "hidden":
        hidden(kernel)
    else:
        work(kernel, sys.argv[3])
