using System;
using System.Threading;

public static class SnowflakeId
{
    // The layout, from the lowest bit up: how far a field is shifted, and its highest value.
    const long EPOCH_MS = 1288834974657;
    const long TICK_MS = 1;
    const long TICKS_PER_MS = 1;
    const int TIME_SHIFT = 22;
    const long TIME_MAX = 2199023255551;
    const int TIME_BITS = 41;
    const int DATACENTER_SHIFT = 17;
    const long DATACENTER_MAX = 31;
    const int WORKER_SHIFT = 12;
    const long WORKER_MAX = 31;
    const int SEQUENCE_SHIFT = 0;
    const long SEQUENCE_MAX = 4095;
    const int ALL_BITS = 63;

    static long Check(string name, long value, long max)
    {
        if (value < 0 || value > max) throw new ArgumentException($"{name} is not from 0 to {max}: {value}");
        return value;
    }

    static long Compose(long tick, long datacenter, long worker, long sequence)
    {
        return Check("time", tick, TIME_MAX) << TIME_SHIFT
            | Check("datacenter", datacenter, DATACENTER_MAX) << DATACENTER_SHIFT
            | Check("worker", worker, WORKER_MAX) << WORKER_SHIFT
            | Check("sequence", sequence, SEQUENCE_MAX) << SEQUENCE_SHIFT;
    }

    static long TickOf(long unixMs)
    {
        if (unixMs < EPOCH_MS) throw new ArgumentException($"before the epoch: {unixMs}");
        return checked((unixMs - EPOCH_MS) * TICKS_PER_MS) / TICK_MS;
    }

    public static long Make(long unixMs, long datacenter, long worker, long sequence)
    {
        return Compose(TickOf(unixMs), datacenter, worker, sequence);
    }

    public static (long UnixMs, long Datacenter, long Worker, long Sequence) Decode(long id)
    {
        Check("ID", id, (long)((1UL << ALL_BITS) - 1));
        long tick = Check("time", id >> TIME_SHIFT & (long)((1UL << TIME_BITS) - 1), TIME_MAX);
        return (
            EPOCH_MS + tick * TICK_MS / TICKS_PER_MS,
            id >> DATACENTER_SHIFT & DATACENTER_MAX,
            id >> WORKER_SHIFT & WORKER_MAX,
            id >> SEQUENCE_SHIFT & SEQUENCE_MAX);
    }

    /// <summary>Makes IDs: var ids = new SnowflakeId.Generator(0, 1); ids.Next();</summary>
    /// <remarks>
    /// They rise, and none repeats while it lives, in any number of threads. It keeps nothing, so these two repeat IDs,
    /// and nothing here sees it: a restart after the clock was set back, and a second process with the same worker ID.
    /// </remarks>
    public sealed class Generator
    {
        readonly long datacenter;
        readonly long worker;
        readonly object turn = new object();
        long last = TickOf(DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
        // An earlier life may have used this tick, so it counts as full: the first ID is of the next one.
        long sequence = SEQUENCE_MAX;

        public Generator(long datacenter, long worker)
        {
            this.datacenter = Check("datacenter", datacenter, DATACENTER_MAX);
            this.worker = Check("worker", worker, WORKER_MAX);
        }

        public long Next()
        {
            lock (turn)
            {
                while (true)
                {
                    long now = TickOf(DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
                    if (now < last)
                    {
                        throw new InvalidOperationException($"The clock is behind the last ID by {last - now} ticks.");
                    }
                    if (now == last && sequence == SEQUENCE_MAX)
                    {
                        // The tick is full: wait for the next one.
                        Thread.Yield();
                        continue;
                    }
                    sequence = now == last ? sequence + 1 : 0;
                    last = now;
                    return Compose(now, datacenter, worker, sequence);
                }
            }
        }
    }
}
