"""Readers of event streams that stop reading, started by network-readers.ts.

Node cannot set the receive buffer or the segment size of a socket. Without them, a connection on loopback has segments of 64 KiB and
buffers of several megabytes on both sides, all in the kernel of one machine.
"""
import hashlib
import http.client
import json
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

AT_ONCE = 16
CHUNK = 1 << 16

task = json.loads(sys.stdin.readline())


def follow(rollout, start):
    """Requests the events of a rollout from a number on. Returns the response, of which only the headers have been read."""
    plain = socket.socket()
    if task["receiveBytes"] is not None:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, task["receiveBytes"])
    if task["segmentBytes"] is not None:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, task["segmentBytes"])
    plain.connect((task["host"], task["port"]))
    connection = http.client.HTTPConnection(task["host"], task["port"])
    connection.sock = plain
    path = f"/api/rollouts/{rollout}/events?from={start}"
    connection.request("GET", path, headers={"authorization": f"Bearer {task['token']}"})
    return connection.getresponse()


class Lines:
    """Counts and hashes the lines of a stream, except the one that ends it early."""

    def __init__(self):
        self.hash = hashlib.sha256()
        self.count = 0
        self.rest = b""
        self.next = None

    def read(self, response):
        """Reads to the end. Returns whether the end arrived."""
        try:
            while part := response.read1(CHUNK):
                self.add(part)
            return True
        except (http.client.IncompleteRead, ConnectionError):
            return False
        finally:
            # The next request returns an incomplete line completely.
            self.rest = b""
            response.close()

    def add(self, part):
        *lines, self.rest = (self.rest + part).split(b"\n")
        for line in lines:
            if line.startswith(b'{"type":"stream-closed"'):
                self.next = json.loads(line)["next"]
                continue
            self.hash.update(line)
            self.count += 1


def read_on(index):
    """Reads what a reader can still get, and requests the later events."""
    rollout, response = readers[index]
    lines = Lines()
    end = "cut off" if not lines.read(response) else "complete" if lines.next is None else "told"
    received, status = lines.count, 200
    if end != "complete":
        rest = follow(rollout, received)
        status = rest.status
        if status == 200:
            lines.read(rest)
        else:
            rest.close()
    found = {"end": end, "received": received, "next": lines.next, "status": status}
    return {**found, "lines": lines.count, "hash": lines.hash.hexdigest()}


def opened(rollout):
    response = follow(rollout, 0)
    if response.status != 200:
        raise RuntimeError(f"status {response.status}")
    return rollout, response


def answer(value):
    print(json.dumps(value), flush=True)


with ThreadPoolExecutor(AT_ONCE) as pool:
    readers = list(pool.map(opened, task["rollouts"]))
    answer(len(readers))
    for line in sys.stdin:
        answer(list(pool.map(read_on, json.loads(line))))
