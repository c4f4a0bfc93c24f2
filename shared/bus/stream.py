"""A turn's events in Redis: one capped stream, one pub/sub channel, one script for both.

A sequence number is (epoch - 1) * 2^32 + n, n counting from 1 within the epoch: events of
a later attempt always sort after those of an earlier one, even when Redis lost everything
in between. The epoch key is the fence: the script refuses another epoch, and refuses when
the key is absent, so that only a holder of the lease writes it anew.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any
from uuid import UUID

from redis.asyncio import Redis

from shared.core.tunables import EVENT_STREAM_MAXLEN

EPOCH_SPAN = 1 << 32


def epoch_base(epoch: int) -> int:
    """The number before an epoch's first event."""
    return (epoch - 1) * EPOCH_SPAN


def is_epoch_start(seq: int) -> bool:
    return seq % EPOCH_SPAN == 1


def epoch_of(seq: int) -> int:
    return seq // EPOCH_SPAN + 1


def channel(turn_id: UUID) -> str:
    return f"pt:turn:{turn_id}"


def _fence_key(turn_id: UUID) -> str:
    return f"pt:turn:{{{turn_id}}}:fence"


def _events_key(turn_id: UUID) -> str:
    return f"pt:turn:{{{turn_id}}}:events"


class Append(IntEnum):
    """What became of an append."""

    OK = 1
    FENCED = 0  # a later epoch owns the turn
    ABSENT = -1  # the fence is gone: Redis lost it


# A retried call (the answer was lost, the command was not) must not append twice:
# numbers at or below the last one are skipped.
_APPEND = """
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch then return -1 end
if epoch ~= ARGV[1] then return 0 end
local last = tonumber(redis.call('HGET', KEYS[1], 'seq') or '0')
for i = 6, #ARGV, 2 do
  if tonumber(ARGV[i]) > last then
    redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], ARGV[i] .. '-0', 'd', ARGV[i + 1])
    last = tonumber(ARGV[i])
    redis.call('HSET', KEYS[1], 'seq', ARGV[i])
  end
end
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[2])
redis.call('PUBLISH', ARGV[4], ARGV[5])
return 1
"""

# Only ever forwards: a late claim of an older epoch changes nothing.
_FENCE = """
local epoch = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0')
if tonumber(ARGV[1]) < epoch then return 0 end
redis.call('HSET', KEYS[1], 'epoch', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""


class EventStream:
    """Writes and reads the events of turns. Encoded chunks hold no line feed."""

    def __init__(self, redis: "Redis", *, ttl_seconds: int) -> None:
        self._redis = redis
        self._ttl = ttl_seconds
        self._append = redis.register_script(_APPEND)
        self._fence = redis.register_script(_FENCE)

    async def raise_fence(self, turn_id: UUID, epoch: int) -> bool:
        """Let `epoch` write; False when a later one already may."""
        return bool(await self._fence(keys=[_fence_key(turn_id)], args=[epoch, self._ttl]))

    async def append(
        self, turn_id: UUID, epoch: int, events: Sequence[tuple[int, bytes]]
    ) -> Append:
        """Append (sequence number, encoded chunk) pairs and publish them as one message."""
        args: list[bytes | int | str] = [
            epoch,
            self._ttl,
            EVENT_STREAM_MAXLEN,
            channel(turn_id),
            b"".join(b"%d %s\n" % pair for pair in events),
        ]
        for seq, data in events:
            args += [seq, data]
        keys = [_fence_key(turn_id), _events_key(turn_id)]
        return Append(int(await self._append(keys=keys, args=args)))

    async def read(self, turn_id: UUID, after: int) -> list[tuple[int, bytes]]:
        """The events after a sequence number that the stream still holds, in order."""
        entries: Any = await self._redis.xrange(_events_key(turn_id), min=f"({after}-0", max="+")
        return [(int(entry_id.split(b"-")[0]), fields[b"d"]) for entry_id, fields in entries]

    async def hint(self, turn_id: UUID) -> None:
        """Tell the turn's readers to look at the database."""
        await self._redis.publish(channel(turn_id), b"")


def parse_message(payload: bytes) -> list[tuple[int, bytes]]:
    """A published message as (sequence number, encoded chunk) pairs; empty for a hint."""
    pairs = []
    for line in payload.split(b"\n")[:-1]:
        seq, _, data = line.partition(b" ")
        pairs.append((int(seq), data))
    return pairs


SIGNALS = "pt:signals"  # channel: the id of a turn that should stop, as text


async def signal_stop(redis: "Redis", turn_id: UUID) -> None:
    """Wake the worker that holds the turn; the row already says that it should stop."""
    await redis.publish(SIGNALS, str(turn_id))
