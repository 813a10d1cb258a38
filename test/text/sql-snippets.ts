import { readFileSync } from "node:fs";
import { composeId, decomposeId, ticksToMsDown } from "../../src/snowflake/layout.ts";
import { vectorLayouts } from "../../tools/vectors/layout-vectors.ts";

/** A database whose SQL docs/text-forms.md shows. */
export type SqlDatabase = "sqlite" | "postgresql" | "mysql";

/** The answer that a snippet of docs/text-forms.md must give. */
export interface SqlSnippet {
  readonly name: string;
  readonly sql: string;
  /** The IDs of the table `orders`, one column `id BIGINT`, that the snippet reads. */
  readonly ids: readonly bigint[];
  /** Its rows, in order, each value as text. */
  readonly rows: readonly Readonly<Record<string, string>>[];
}

const idCount = 200;

/** The snippets of docs/text-forms.md for a database, with what each is to answer. */
export function sqlSnippets(database: SqlDatabase): readonly SqlSnippet[] {
  const document = readFileSync(new URL("../../docs/text-forms.md", import.meta.url), "utf8");
  const blocks = document.matchAll(/<!-- sql: (?<where>\w+) (?<what>\w+) -->\n```sql\n(?<sql>[^`]+?);\n```/g);
  return Array.from(blocks, ({ groups }) => groups!)
    .filter((groups) => groups["where"] === database || groups["where"] === "all")
    .map((groups) => {
      const name = groups["what"]!;
      const ids = idsOf(name === "sonyflake" ? name : "twitter");
      return { name, sql: groups["sql"]!, ids, rows: rowsOf(name, ids) };
    });
}

/** IDs over the layout's life up to 2060, so that every database's dates reach, in ascending order. */
function idsOf(layoutName: string): readonly bigint[] {
  const layout = vectorLayouts.get(layoutName)!;
  const { timestamp, datacenter, worker, sequence } = layout;
  const lastTicks = Math.min(timestamp.max, ((2_840_140_800_000 - layout.epochMs) * 1e6) / layout.tickNs);
  const ids = Array.from({ length: idCount }, (_, i) =>
    composeId(layout, {
      ticks: Math.floor((lastTicks / idCount) * i),
      datacenterId: (i * 7) % (datacenter.max + 1),
      workerId: (i * 11) % (worker.max + 1),
      sequence: (i * 4_093) % (sequence.max + 1),
    }),
  );
  const edges = layoutName === "twitter" ? edgesOfTheDay : [];
  return [...new Set([...ids, ...edges])].toSorted((a, b) => (a < b ? -1 : 1));
}

/** The 13th of March 2025 in UTC. */
const dayFirstId = (1_741_824_000_000n - 1_288_834_974_657n) << 22n;
const dayEndId = (1_741_910_400_000n - 1_288_834_974_657n) << 22n;
const edgesOfTheDay: readonly bigint[] = [dayFirstId - 1n, dayFirstId, dayFirstId + 1n, dayEndId - 1n, dayEndId];

function rowsOf(name: string, ids: readonly bigint[]): readonly Readonly<Record<string, string>>[] {
  if (name === "range") {
    return ids.filter((id) => id >= dayFirstId && id < dayEndId).map((id) => ({ id: String(id) }));
  }
  const layout = vectorLayouts.get(name)!;
  return ids.map((id) => {
    const { ticks, datacenterId, workerId, sequence } = decomposeId(layout, id);
    const ms = ticksToMsDown(layout, ticks);
    const shared = { id: String(id), worker: String(workerId), sequence: String(sequence) };
    if (name === "sonyflake") return Object.assign(shared, { created_ms: String(ms) });
    const created = new Date(ms).toISOString().replace("T", " ").replace("Z", "");
    return Object.assign(shared, { created, datacenter: String(datacenterId) });
  });
}
