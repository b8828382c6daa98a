-- Scripts that a Redis or Valkey server executes atomically. Lua numbers are 64-bit floats, which
-- represent microseconds since 1970 exactly until 2255.
-- hit
-- KEYS: a window per subject. ARGV: the second, then a limit per minute and per day for each.
-- A window is the numbers of its minute and its day and what was counted in them.
local second, at = struct.unpack('>I4', ARGV[1])
-- A caller whose clock is far ahead must not take the windows of everybody along.
local clock = redis.call('TIME')[1]
second = math.min(second, clock + 60)
local minute, day = math.floor(second / 60), math.floor(second / 86400)
-- The last window that a right clock may have opened; later ones are of before it was set back.
local last_minute = math.floor(math.max(second, clock) / 60) + 1
local last_day = math.floor(math.max(second, clock) / 86400) + 1
local held, windows, told = redis.call('MGET', unpack(KEYS)), {}, ''
local fits, turned, latest_minute, latest_day = true, false, minute, day
for i = 1, #KEYS do
  local m, in_minute, d, in_day, per_minute, per_day = minute, 0, day, 0
  if held[i] then
    local old_m, old_in_minute, old_d, old_in_day = struct.unpack('>I4I4I4I4', held[i])
    if old_m >= m then m, in_minute = old_m > last_minute and last_minute - 1 or old_m, old_in_minute end
    if old_d >= d then d, in_day = old_d > last_day and last_day - 1 or old_d, old_in_day end
    turned = turned or m ~= old_m or d ~= old_d
  end
  per_minute, per_day, at = struct.unpack('>I8I8', ARGV[1], at)
  fits = fits and in_minute < per_minute and in_day < per_day
  latest_minute, latest_day = math.max(latest_minute, m), math.max(latest_day, d)
  windows[i] = {m, in_minute, d, in_day}
  told = told .. struct.pack('>I4I4', in_minute, in_day)
end
if fits or turned then
  local n = fits and 1 or 0
  for i, w in ipairs(windows) do
    local kept = struct.pack('>I4I4I4I4', w[1], w[2] + n, w[3], w[4] + n)
    redis.call('SET', KEYS[i], kept, 'EX', 172800)
  end
end
return struct.pack('>I4I4', latest_minute, latest_day) .. told
-- record
-- KEYS: the failures of each address, the addresses by their last one. ARGV: the address, now, the
-- most failures that are kept, how long they count, the most addresses; times in microseconds.
local address, now, most, span = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local before, times = redis.call('HGET', KEYS[1], address) or '', {}
for time in string.gmatch(before, '%d+') do times[#times + 1] = time end
if #times == most and times[1] + span > tonumber(now) then return before end
times[#times + 1] = now
table.sort(times, function(a, b) return tonumber(a) < tonumber(b) end)
if #times > most then table.remove(times, 1) end
redis.call('HSET', KEYS[1], address, table.concat(times, ' '))
redis.call('ZADD', KEYS[2], now, address)
local old = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - span, 'LIMIT', 0, 2)
if #old == 0 and redis.call('ZCARD', KEYS[2]) > tonumber(ARGV[5]) then
  old = redis.call('ZRANGE', KEYS[2], 0, 0)
end
for _, one in ipairs(old) do
  redis.call('ZREM', KEYS[2], one)
  redis.call('HDEL', KEYS[1], one)
end
return before
-- take
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
-- release
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
