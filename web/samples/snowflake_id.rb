# The layout, from the lowest bit up: how far a field is shifted, and its highest value.
EPOCH_MS = 1288834974657
TICK_MS = 1
TICKS_PER_MS = 1
TIME_SHIFT = 22
TIME_MAX = 2199023255551
TIME_BITS = 41
DATACENTER_SHIFT = 17
DATACENTER_MAX = 31
WORKER_SHIFT = 12
WORKER_MAX = 31
SEQUENCE_SHIFT = 0
SEQUENCE_MAX = 4095
ALL_BITS = 63

def check(name, value, max)
  raise RangeError, "#{name} is not from 0 to #{max}: #{value}" unless value.between?(0, max)
  value
end

def compose(tick, datacenter, worker, sequence)
  check("time", tick, TIME_MAX) << TIME_SHIFT |
    check("datacenter", datacenter, DATACENTER_MAX) << DATACENTER_SHIFT |
    check("worker", worker, WORKER_MAX) << WORKER_SHIFT |
    check("sequence", sequence, SEQUENCE_MAX) << SEQUENCE_SHIFT
end

def tick_of(unix_ms)
  raise RangeError, "before the epoch: #{unix_ms}" if unix_ms < EPOCH_MS
  (unix_ms - EPOCH_MS) * TICKS_PER_MS / TICK_MS
end

def make(unix_ms, datacenter, worker, sequence)
  compose(tick_of(unix_ms), datacenter, worker, sequence)
end

def decode(id)
  check("ID", id, (1 << ALL_BITS) - 1)
  tick = check("time", id >> TIME_SHIFT & (1 << TIME_BITS) - 1, TIME_MAX)
  {
    unix_ms: EPOCH_MS + tick * TICK_MS / TICKS_PER_MS,
    datacenter: id >> DATACENTER_SHIFT & DATACENTER_MAX,
    worker: id >> WORKER_SHIFT & WORKER_MAX,
    sequence: id >> SEQUENCE_SHIFT & SEQUENCE_MAX
  }
end

# One for each worker ID at a time, and none that starts again within a tick: nothing here checks that.
class Generator
  def initialize(datacenter, worker)
    @datacenter = datacenter
    @worker = worker
    @last = -1
    @sequence = 0
    @lock = Mutex.new
  end

  def next
    @lock.synchronize do
      now = tick_of(Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond))
      # A clock that was set back, and a full tick, go on from the last time.
      if now > @last
        @last, @sequence = now, 0
      elsif @sequence < SEQUENCE_MAX
        @sequence += 1
      else
        @last, @sequence = @last + 1, 0
      end
      compose(@last, @datacenter, @worker, @sequence)
    end
  end
end

command, *texts = ARGV
values = texts.map { |text| Integer(text, 10) }
case command
when "make" then puts make(*values)
when "decode" then values.each { |id| puts decode(id).values.join(" ") }
else puts Generator.new(0, 0).next
end
