using System;
using System.Linq;
using System.Threading;

/// <summary>Uses the program that Learn shows: drive.mjs has the commands.</summary>
static class Drive
{
    /// <summary>The clock that the program reads here; null: that of the machine.</summary>
    static long? nowMs;
    static int looks;

    public static long Clock()
    {
        if (nowMs == null) return DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        if (looks++ > 0) nowMs++;
        return nowMs.Value;
    }

    static void PrintLives(long count, long each)
    {
        for (long life = 0; life < count; life++)
        {
            var ids = new SnowflakeId.Generator(0, 1);
            long first = ids.Next();
            long last = first;
            for (long made = 1; made < each; made++)
            {
                long id = ids.Next();
                if (id <= last) throw new Exception($"{id} came after {last}");
                last = id;
            }
            Console.WriteLine($"{first} {last}");
        }
    }

    static string OutcomeOf(string history)
    {
        nowMs = 1700000000000;
        looks = 0;
        var ids = new SnowflakeId.Generator(0, 1);
        string[] outcomes = new string[history.Length];
        for (int place = 0; place < outcomes.Length; place++)
        {
            looks = 0;
            outcomes[place] = "-";
            char step = history[place];
            if (step == 't') nowMs++;
            else if (step == 'b') nowMs -= 2;
            else if (step == 'r') ids = new SnowflakeId.Generator(0, 1);
            else
            {
                try
                {
                    outcomes[place] = ids.Next().ToString();
                }
                catch (InvalidOperationException)
                {
                    outcomes[place] = "behind";
                }
            }
        }
        return string.Join(" ", outcomes);
    }

    static void PrintThreads(long count, long each)
    {
        var ids = new SnowflakeId.Generator(0, 1);
        long[][] lines = Enumerable.Range(0, (int)count).Select(_ => new long[each]).ToArray();
        Thread[] threads = lines.Select(line => new Thread(() =>
        {
            for (long made = 0; made < each; made++) line[made] = ids.Next();
        })).ToArray();
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
        foreach (long[] line in lines) Console.WriteLine(string.Join(" ", line));
    }

    static void Main(string[] args)
    {
        string command = args.Length == 0 ? "" : args[0];
        long[] values = args.Skip(1).Select(long.Parse).ToArray();
        if (command == "make")
        {
            Console.WriteLine(SnowflakeId.Make(values[0], values[1], values[2], values[3]));
        }
        else if (command == "decode")
        {
            foreach (var parts in values.Select(SnowflakeId.Decode))
            {
                Console.WriteLine($"{parts.UnixMs} {parts.Datacenter} {parts.Worker} {parts.Sequence}");
            }
        }
        else if (command == "lives")
        {
            PrintLives(values[0], values[1]);
        }
        else if (command == "threads")
        {
            PrintThreads(values[0], values[1]);
        }
        else if (command == "histories")
        {
            string line;
            while ((line = Console.ReadLine()) != null) Console.WriteLine(OutcomeOf(line));
        }
    }
}
