/** Measures the cost of hiding an ID and of revealing it again. */
import { createHmac } from "node:crypto";
import { PublicId } from "../../src/text/public-id.ts";
import type { Benchmark } from "./benchmark.ts";
import { interleave, median } from "./interleave.ts";
import { openPublicIdsPage, type PublicIdsPage } from "./public-ids-page.ts";
import { formatFigure } from "./report.ts";

const callCount = 100_000;
const rounds = 15;
const key = Uint8Array.from({ length: 32 }, (_, index) => index);
const publicId = new PublicId(key);

interface Way {
  readonly name: string;
  readonly isOurs: boolean;
  /** One round: nanoseconds a call. */
  readonly run: () => number | Promise<number>;
}

function waysWith(page: PublicIdsPage): readonly Way[] {
  return [
    { name: "Snowlane, hide", isOurs: true, run: () => measure((id) => publicId.hide(id)) },
    { name: "Snowlane, reveal", isOurs: true, run: () => measure((id) => publicId.reveal(id)) },
    { name: "Snowlane, hide in Chromium", isOurs: true, run: () => page.measure("hide", callCount) },
    { name: "Snowlane, reveal in Chromium", isOurs: true, run: () => page.measure("reveal", callCount) },
    { name: "one HMAC-SHA-256 of node:crypto", isOurs: false, run: () => measure(hmacOf) },
  ];
}

/** The cost of a one-way public ID: the last 63 bits of an HMAC. */
function hmacOf(id: bigint): bigint {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(id);
  return createHmac("sha256", key).update(message).digest().readBigUInt64BE(24) >> 1n;
}

/** Public IDs in TypeScript. */
export const publicIdsBenchmark: Benchmark = {
  name: "public-ids",
  title: "Public IDs",
  about: [
    `One thread hides IDs, or reveals them, ${callCount.toLocaleString("en-US")} a round; the next ID is the last result.`,
    `The rows take turns in ${rounds} rounds. The time is processor time, in Chromium elapsed time. An HMAC is what many`,
    "services take for a public number; it cannot be turned back into the ID, so the service has to store both.",
  ].join("\n"),
  packages: [],
  run: async (log) => {
    const page = await openPublicIdsPage(key);
    const ways = waysWith(page);
    const results = await measureAll(ways, page, log);
    const rows = ways.map(({ name, isOurs }) => {
      const values = results.get(name) ?? [];
      return { name, isOurs, best: Math.min(...values), middle: median(values) };
    });
    return [
      {
        title: "One ID",
        columns: ["call", "ns, best round", "median round"],
        rows: rows.map(({ name, best, middle }) => [name, formatFigure(best), formatFigure(middle)]),
        chart: {
          unit: "ns",
          bars: rows.map(({ name, isOurs, best }) => ({ label: name, value: best, isOurs })),
        },
      },
    ];
  },
};

async function measureAll(
  ways: readonly Way[],
  page: PublicIdsPage,
  log: (line: string) => void,
): Promise<ReadonlyMap<string, readonly number[]>> {
  try {
    return await interleave(ways, rounds, log);
  } finally {
    await page.close();
  }
}

/** Nanoseconds of processor time a call. The next ID is the last result, so that no call is left out as unused. */
function measure(step: (id: bigint) => bigint): number {
  const before = process.threadCpuUsage();
  let id = 1n;
  for (let call = 0; call < callCount; call++) id = step(id);
  const { user, system } = process.threadCpuUsage(before);
  return ((user + system) * 1_000) / callCount;
}
