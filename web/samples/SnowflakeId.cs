using System;
using System.Linq;

static class SnowflakeId
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

    /// <summary>One for each worker ID at a time, and none that starts again within a tick: nothing here checks that.</summary>
    public sealed class Generator
    {
        readonly long datacenter;
        readonly long worker;
        readonly object turn = new object();
        long last = -1;
        long sequence;

        public Generator(long datacenter, long worker)
        {
            this.datacenter = datacenter;
            this.worker = worker;
        }

        public long Next()
        {
            lock (turn)
            {
                long now = TickOf(DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
                // A clock that was set back, and a full tick, go on from the last time.
                if (now > last)
                {
                    last = now;
                    sequence = 0;
                }
                else if (sequence < SEQUENCE_MAX)
                {
                    sequence++;
                }
                else
                {
                    last++;
                    sequence = 0;
                }
                return Compose(last, datacenter, worker, sequence);
            }
        }
    }

    static void Main(string[] args)
    {
        string command = args.Length == 0 ? "" : args[0];
        long[] values = args.Skip(1).Select(long.Parse).ToArray();
        if (command == "make")
        {
            Console.WriteLine(Make(values[0], values[1], values[2], values[3]));
        }
        else if (command == "decode")
        {
            foreach (var parts in values.Select(Decode))
            {
                Console.WriteLine($"{parts.UnixMs} {parts.Datacenter} {parts.Worker} {parts.Sequence}");
            }
        }
        else
        {
            Console.WriteLine(new Generator(0, 0).Next());
        }
    }
}
