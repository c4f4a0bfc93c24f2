"""What the processes tell of themselves, and what the kernel tells of them."""

from pathlib import Path

import httpx2

from bench.cluster import Cluster


def open_streams(cluster: Cluster, *apis: str) -> int:
    """The open streams of these APIs, or of all, as they say by /metrics."""
    return sum(int(_gauge(cluster.url(api), "stream_readers")) for api in apis or cluster.apis)


def _gauge(url: str, name: str) -> float:
    text = httpx2.get(f"{url}/metrics", timeout=10, trust_env=False).raise_for_status().text
    lines = (line.partition(" ") for line in text.splitlines())
    return next(float(value) for key, _, value in lines if key == f"pageturn_{name}")


def megabytes(cluster: Cluster, name: str) -> float:
    """A process's resident memory, without what it shares with others."""
    text = Path(f"/proc/{cluster.pid(name)}/smaps_rollup").read_text()
    return sum(
        int(line.split()[1]) / 1000
        for line in text.splitlines()
        if line.startswith(("Private_Clean:", "Private_Dirty:"))
    )


def holds_connection(server_port: int, client_port: int) -> bool:
    """Whether a process still has the server's end of a loopback connection open."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        ports = [int(address.split(":")[1], 16) for address in fields[1:3]]
        if ports == [server_port, client_port]:
            return fields[9] != "0"  # the inode: none once the process has closed it
    return False
