"""The scripts that Redis runs for shared limits and cooldowns, each in one step."""

from hashlib import sha1

from msgspec import Struct

from tidegate.routing.quota import LONGEST_DEBT, WINDOW

LEASE = 30.0
"""Seconds; a place that an open request takes is free again after this unless it is renewed."""
LIMITS = b"tidegate:{limits}:"
"""Before all names of limits; what stands in braces keeps them in one slot of a cluster."""
COOLDOWNS = b"tidegate:{limits}:cooldowns"
"""The stream of what nodes found out about channels."""


class Script(Struct, frozen=True):
    """A script's text, and the name that Redis has for it."""

    text: bytes
    digest: bytes


def _script(text: str) -> Script:
    digest = sha1(text.encode(), usedforsecurity=False).hexdigest()
    return Script(text.encode(), digest.encode())


# The first write of each script is one that a full Redis refuses: what has begun to write may go on.
# Rates are kept as routing.quota.State: at which time (s) how many seconds of refilling requests (r) and
# tokens (t) need to be full. All nodes go by the clock of Redis.
_SHARED = f"""
local function clock()
  local time = redis.call('TIME')
  return tonumber(time[1]) + tonumber(time[2]) / 1000000
end
local function owed(kept, passed)
  local seconds = tonumber(kept or 0) or 0
  if not (seconds >= 0 and seconds <= {LONGEST_DEBT}) then return 0 end
  return math.max(0, seconds - passed)
end
local function state(key, now)
  local kept = redis.call('HMGET', key, 's', 'r', 't')
  local passed = math.max(0, now - (tonumber(kept[1] or now) or now))
  return owed(kept[2], passed), owed(kept[3], passed)
end
local function keep(key, now, requests, tokens)
  requests = math.min(math.max(requests, 0), {LONGEST_DEBT})
  tokens = math.min(math.max(tokens, 0), {LONGEST_DEBT})
  local rest = math.max(requests, tokens)
  if rest == 0 then
    redis.call('DEL', key)
    return
  end
  redis.call('HSET', key, 's', string.format('%.6f', now), 'r', string.format('%.17g', requests),
    't', string.format('%.17g', tokens))
  redis.call('PEXPIRE', key, math.ceil(rest * 1000) + 1000)
end
local function lease(key, now, seconds, id)
  redis.call('ZADD', key, now + seconds, id)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  redis.call('ZREMRANGEBYSCORE', key, now + 2 * seconds, '+inf')
  redis.call('PEXPIRE', key, math.ceil(seconds * 1000) + 1000)
end
"""

ADMIT = _script(
    _SHARED
    + f"""
local now = clock()
local id, seconds = ARGV[1], tonumber(ARGV[2])
local fits, told, rates = 1, {{0}}, {{}}
local function room(owes, cost)
  return owes + math.min(cost, {WINDOW}) - {WINDOW} <= 0.000001
end
local function limits(i)
  local at = 2 + (i - 1) / 2 * 3
  return tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
end
for i = 1, #KEYS, 2 do
  local most, one, cost = limits(i)
  local open, requests, tokens = 0, 0, 0
  if most > 0 then
    open = redis.call('ZCOUNT', KEYS[i + 1], '(' .. string.format('%.6f', now), now + 2 * seconds)
    if open >= most then fits = 0 end
  end
  if one >= 0 or cost >= 0 then requests, tokens = state(KEYS[i], now) end
  if one >= 0 and not room(requests, one) then fits = 0 end
  if cost >= 0 and not room(tokens, cost) then fits = 0 end
  told[#told + 1] = string.format('%.17g', requests)
  told[#told + 1] = string.format('%.17g', tokens)
  told[#told + 1] = open
  rates[i] = {{requests, tokens}}
end
told[1] = fits
local answer = table.concat(told, ' ')
if fits == 0 then return answer end
for i = 1, #KEYS, 2 do
  local most, one, cost = limits(i)
  if one >= 0 or cost >= 0 then
    keep(KEYS[i], now, rates[i][1] + math.max(one, 0), rates[i][2] + math.max(cost, 0))
  end
  if most > 0 then lease(KEYS[i + 1], now, seconds, id) end
end
return answer
"""
)
"""KEYS: of each scope its rates and its places. ARGV: the request's id, seconds of a lease; of each scope the
most open requests (0: no limit) and the seconds of refilling that the request and its tokens cost (-1: none).

Gives 1 (admitted) or 0, then of each scope what its limits owed before and its open requests: one text with
spaces between, which is read faster than an array.
"""

FINISH = _script(
    _SHARED
    + """
local now = clock()
for i = 1, #KEYS, 2 do
  local difference = tonumber(ARGV[i + 1])
  redis.call('ZREM', KEYS[i + 1], ARGV[i])
  if difference ~= 0 then
    local requests, tokens = state(KEYS[i], now)
    keep(KEYS[i], now, requests, tokens + difference)
  end
end
return 1
"""
)
"""KEYS: of each request and scope its rates and its places. ARGV: of each the request's id, and how many
seconds of refilling it cost more than was estimated."""

RENEW = _script(
    _SHARED
    + """
local now = clock()
for i = 1, #KEYS do lease(KEYS[i], now, tonumber(ARGV[1]), ARGV[i + 1]) end
return 1
"""
)
"""KEYS: the places of a scope for each request. ARGV: seconds of a lease, then the requests' ids."""

PUBLISH = _script(
    """
redis.call('XADD', KEYS[1], 'MAXLEN', '~', 1000, '*', 'from', ARGV[1], 'change', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
"""
)
"""KEYS: the stream. ARGV: who tells it, what changed, milliseconds for which the stream is kept after it."""

NEWS = _script(
    """
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
return {now, redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', 200)}
"""
)
"""KEYS: the stream. ARGV: the last entry that is known, "0" for none. Gives milliseconds of Redis' clock and
the entries after it."""
