module SnowflakeId
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

  def self.check(name, value, max)
    raise RangeError, "#{name} is not from 0 to #{max}: #{value}" unless value.between?(0, max)
    value
  end

  def self.compose(tick, datacenter, worker, sequence)
    check("time", tick, TIME_MAX) << TIME_SHIFT |
      check("datacenter", datacenter, DATACENTER_MAX) << DATACENTER_SHIFT |
      check("worker", worker, WORKER_MAX) << WORKER_SHIFT |
      check("sequence", sequence, SEQUENCE_MAX) << SEQUENCE_SHIFT
  end

  def self.tick_of(unix_ms)
    raise RangeError, "before the epoch: #{unix_ms}" if unix_ms < EPOCH_MS
    (unix_ms - EPOCH_MS) * TICKS_PER_MS / TICK_MS
  end

  def self.make(unix_ms, datacenter, worker, sequence)
    compose(tick_of(unix_ms), datacenter, worker, sequence)
  end

  def self.decode(id)
    check("ID", id, (1 << ALL_BITS) - 1)
    tick = check("time", id >> TIME_SHIFT & (1 << TIME_BITS) - 1, TIME_MAX)
    {
      unix_ms: EPOCH_MS + tick * TICK_MS / TICKS_PER_MS,
      datacenter: id >> DATACENTER_SHIFT & DATACENTER_MAX,
      worker: id >> WORKER_SHIFT & WORKER_MAX,
      sequence: id >> SEQUENCE_SHIFT & SEQUENCE_MAX
    }
  end

  # ids = SnowflakeId::Generator.new(0, 1); ids.next
  # Its IDs rise, and none repeats while it lives, in any number of threads. It keeps nothing, so these two repeat IDs,
  # and nothing here sees it:
  # - a restart after the clock was set back;
  # - a second process with the same worker ID, such as a fork or each worker of Puma.
  class Generator
    def initialize(datacenter, worker)
      @datacenter = SnowflakeId.check("datacenter", datacenter, DATACENTER_MAX)
      @worker = SnowflakeId.check("worker", worker, WORKER_MAX)
      @lock = Mutex.new
      @last = now
      # An earlier life may have used this tick, so it counts as full: the first ID is of the next one.
      @sequence = SEQUENCE_MAX
    end

    def next
      @lock.synchronize do
        while (tick = now) == @last && @sequence == SEQUENCE_MAX
          # The tick is full: wait for the next one.
          sleep 0.0001
        end
        raise "The clock is behind the last ID by #{@last - tick} ticks." if tick < @last
        @sequence = tick == @last ? @sequence + 1 : 0
        @last = tick
        SnowflakeId.compose(tick, @datacenter, @worker, @sequence)
      end
    end

    private

    def now
      SnowflakeId.tick_of(Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond))
    end
  end
end
