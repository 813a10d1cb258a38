import { IdError } from "../errors.ts";
import { createLayout, type Layout } from "./layout.ts";
import { nsPerMs } from "./nanoseconds.ts";

/** Names of the layouts that are built in, the default first. */
export const presetNames = [
  "twitter",
  "discord",
  "instagram",
  "sonyflake",
  "baidu",
  "javascript",
  "leaf",
  "cosid",
  "tsid",
  "clickhouse",
  "pgedge",
  "pgedge-2.3",
  "hazelcast",
  "yitter",
  "mastodon",
] as const;

/** One of {@link presetNames}. */
export type PresetName = (typeof presetNames)[number];

/** The built-in layouts by name. docs/layouts.md says what each is good for and when it runs out. */
export const layouts: Readonly<Record<PresetName, Layout>> = {
  /**
   * Twitter Snowflake: 4,096 IDs a millisecond from each of 1,024 workers, until 2080.
   *
   * @see https://github.com/twitter-archive/snowflake/tree/snowflake-2010 (IdWorker.scala: twepoch, and the widths 5, 5
   * and 12).
   */
  twitter: createLayout({
    name: "twitter",
    epochMs: 1_288_834_974_657,
    tickNs: nsPerMs,
    fields: [
      { kind: "timestamp", bits: 41 },
      { kind: "datacenter", bits: 5 },
      { kind: "worker", bits: 5 },
      { kind: "sequence", bits: 12 },
    ],
  }),
  /**
   * Discord: Twitter's widths from the first second of 2015. Its worker is our datacenter, its process our worker.
   * Discord counts 42 time bits; here bit 63 stays clear, which leaves 41, until 2084.
   *
   * @see https://discord.com/developers/docs/reference#snowflakes
   */
  discord: createLayout({
    name: "discord",
    epochMs: 1_420_070_400_000,
    tickNs: nsPerMs,
    fields: [
      { kind: "timestamp", bits: 41 },
      { kind: "datacenter", bits: 5 },
      { kind: "worker", bits: 5 },
      { kind: "sequence", bits: 12 },
    ],
  }),
  /**
   * Instagram: a logical shard of 13 bits is our worker. Instagram counts 41 time bits from bit 63 down; here bit 63
   * stays clear, which leaves 40, until 2046.
   *
   * @see https://instagram-engineering.com/sharding-ids-at-instagram-1cf5a71e5a5c (our_epoch, and the shifts by 23 and
   * 10).
   */
  instagram: createLayout({
    name: "instagram",
    epochMs: 1_314_220_021_721,
    tickNs: nsPerMs,
    fields: [
      { kind: "timestamp", bits: 40 },
      { kind: "worker", bits: 13 },
      { kind: "sequence", bits: 10 },
    ],
  }),
  /**
   * Sonyflake: ticks of 10 ms, and 65,536 workers in the lowest bits, so that successive IDs differ by 2^16; until
   * 2188.
   *
   * @see https://pkg.go.dev/github.com/sony/sonyflake (BitLenTime, BitLenSequence, BitLenMachineID; the default
   * StartTime).
   */
  sonyflake: createLayout({
    name: "sonyflake",
    epochMs: Date.UTC(2014, 8, 1),
    tickNs: 10 * nsPerMs,
    fields: [
      { kind: "timestamp", bits: 39 },
      { kind: "sequence", bits: 8 },
      { kind: "worker", bits: 16 },
    ],
  }),
  /**
   * Baidu's uid-generator: ticks of one second, a worker ID for each start of a process. With its own epoch, which is
   * kept here for reading, it ran out on 2024-11-20; issuing needs a later epoch.
   *
   * @see https://github.com/baidu/uid-generator (DefaultUidGenerator.java: timeBits, workerBits, seqBits; epochSeconds,
   * which is 2016-05-20 at +08:00).
   */
  baidu: createLayout({
    name: "baidu",
    epochMs: 1_463_673_600_000,
    tickNs: 1_000 * nsPerMs,
    fields: [
      { kind: "timestamp", bits: 28 },
      { kind: "worker", bits: 22 },
      { kind: "sequence", bits: 13 },
    ],
  }),
  /**
   * For IDs that must survive a JSON number: 53 bits, so that every ID is at most Number.MAX_SAFE_INTEGER. This layout
   * is our own: 41 bits of milliseconds from 2026 last until 2095, as long as Twitter's; the other 12 bits are split
   * evenly, for 64 workers of 64,000 IDs a second each. That is much less than 64-bit layouts hold: use one of those
   * wherever IDs can be strings. docs/adr/0003 has the reasons for these widths.
   *
   * @see https://tc39.es/ecma262/#sec-number.max_safe_integer
   */
  javascript: createLayout({
    name: "javascript",
    epochMs: Date.UTC(2026, 0, 1),
    tickNs: nsPerMs,
    fields: [
      { kind: "timestamp", bits: 41 },
      { kind: "worker", bits: 6 },
      { kind: "sequence", bits: 6 },
    ],
  }),
  /**
   * Meituan's Leaf: Twitter's epoch, with one worker field of ten bits; until 2080.
   *
   * @see https://github.com/Meituan-Dianping/Leaf (SnowflakeIDGenImpl.java: twepoch, workerIdBits, sequenceBits).
   */
  leaf: createLayout({
    name: "leaf",
    epochMs: 1_288_834_974_657,
    tickNs: nsPerMs,
    fields: [
      { kind: "timestamp", bits: 41 },
      { kind: "worker", bits: 10 },
      { kind: "sequence", bits: 12 },
    ],
  }),
  /**
   * CosId: Twitter's widths from 2019-12-24T16:00:00Z, with one worker field; until 2089.
   *
   * @see https://github.com/Ahoo-Wang/CosId (CosId.java: COSID_EPOCH; MillisecondSnowflakeId.java: the bits).
   */
  cosid: createLayout({
    name: "cosid",
    epochMs: 1_577_203_200_000,
    tickNs: nsPerMs,
    fields: [
      { kind: "timestamp", bits: 41 },
      { kind: "worker", bits: 10 },
      { kind: "sequence", bits: 12 },
    ],
  }),
  /**
   * TSID Creator: ten bits of node, its default, and twelve of counter, from 2020. It counts 42 time bits; here bit 63
   * stays clear, which leaves 41, until 2089. Its text is our base 32.
   *
   * @see https://github.com/f4b6a3/tsid-creator (Tsid.java: TSID_EPOCH; TsidFactory.java: NODE_BITS_1024).
   */
  tsid: createLayout({
    name: "tsid",
    epochMs: Date.UTC(2020, 0, 1),
    tickNs: nsPerMs,
    fields: [
      { kind: "timestamp", bits: 41 },
      { kind: "worker", bits: 10 },
      { kind: "sequence", bits: 12 },
    ],
  }),
  /**
   * ClickHouse's generateSnowflakeID: Unix milliseconds, so it ends first, in 2039.
   *
   * @see https://clickhouse.com/docs/sql-reference/functions/uuid-functions#generatesnowflakeid
   */
  clickhouse: createLayout({
    name: "clickhouse",
    epochMs: 0,
    tickNs: nsPerMs,
    fields: [
      { kind: "timestamp", bits: 41 },
      { kind: "worker", bits: 10 },
      { kind: "sequence", bits: 12 },
    ],
  }),
  /**
   * pgEdge's snowflake extension from version 2.4 on: from 2023 until 2092.
   *
   * @see https://github.com/pgEdge/snowflake (snowflake.c: the epoch, and the shifts).
   */
  pgedge: createLayout({
    name: "pgedge",
    epochMs: Date.UTC(2023, 0, 1),
    tickNs: nsPerMs,
    fields: [
      { kind: "timestamp", bits: 41 },
      { kind: "worker", bits: 10 },
      { kind: "sequence", bits: 12 },
    ],
  }),
  /**
   * pgEdge's snowflake extension up to version 2.3, which had the node in the lowest bits.
   *
   * @see https://github.com/pgEdge/snowflake (snowflake.c of version 2.3).
   */
  "pgedge-2.3": createLayout({
    name: "pgedge-2.3",
    epochMs: Date.UTC(2023, 0, 1),
    tickNs: nsPerMs,
    fields: [
      { kind: "timestamp", bits: 41 },
      { kind: "sequence", bits: 12 },
      { kind: "worker", bits: 10 },
    ],
  }),
  /**
   * Hazelcast's flake ID generator: 65,536 nodes in the lowest bits, 64 IDs a millisecond from each; from 2018 until
   * 2087.
   *
   * @see https://docs.hazelcast.com/hazelcast/latest/data-structures/flake-id-generator (bits-timestamp, bits-sequence,
   * bits-node-id, the default epoch).
   */
  hazelcast: createLayout({
    name: "hazelcast",
    epochMs: Date.UTC(2018, 0, 1),
    tickNs: nsPerMs,
    fields: [
      { kind: "timestamp", bits: 41 },
      { kind: "sequence", bits: 6 },
      { kind: "worker", bits: 16 },
    ],
  }),
  /**
   * Yitter's IdGenerator with its defaults: 64 workers of 64 numbers a millisecond. Its IDs stay short, and they last
   * as long as the calendar here, until 9999.
   *
   * @see https://github.com/yitter/IdGenerator (IdGeneratorOptions: BaseTime, WorkerIdBitLength, SeqBitLength).
   */
  yitter: createLayout({
    name: "yitter",
    epochMs: 1_582_136_402_000,
    tickNs: nsPerMs,
    fields: [
      { kind: "timestamp", bits: 51 },
      { kind: "worker", bits: 6 },
      { kind: "sequence", bits: 6 },
    ],
  }),
  /**
   * Mastodon: Unix milliseconds over 16 bits that are a hash of the table's name plus a counter, without a worker; here
   * they are the sequence. Mastodon counts 48 time bits; here bit 63 stays clear, which leaves 47, until 6429.
   *
   * @see https://github.com/mastodon/mastodon/blob/main/lib/mastodon/snowflake.rb
   */
  mastodon: createLayout({
    name: "mastodon",
    epochMs: 0,
    tickNs: nsPerMs,
    fields: [
      { kind: "timestamp", bits: 47 },
      { kind: "sequence", bits: 16 },
    ],
  }),
};

/**
 * Returns a built-in layout by its name, optionally with another epoch.
 *
 * @param epochMs - Unix milliseconds; absent means the preset's own.
 * @throws IdError INVALID_LAYOUT if there is no such preset, or the epoch is out of range.
 */
export function presetLayout(name: string, epochMs?: number): Layout {
  const preset = presetNames.find((known) => known === name);
  if (preset === undefined) {
    const message = `There is no layout ${JSON.stringify(name)}; there are: ${presetNames.join(", ")}.`;
    throw new IdError("INVALID_LAYOUT", message, { metadata: { layout: name } });
  }
  const layout = layouts[preset];
  return epochMs === undefined || epochMs === layout.epochMs ? layout : createLayout({ ...layout, epochMs });
}
