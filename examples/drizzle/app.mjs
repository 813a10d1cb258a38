// A table of Drizzle whose IDs come from Snowlane. Saves one order, or COUNT, then prints the
// newest two with the time in their IDs.
import { createNodeClient } from "@snowlane/client/node";
import { desc, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { bigint, pgTable, text } from "drizzle-orm/pg-core";

const client = createNodeClient({ endpoints: process.env.SNOWLANE_URL.split(","), timeoutMs: 60_000 });
const ids = client.prefetch();
const db = drizzle(process.env.DATABASE_URL);

// mode "bigint", because a number would lose the last digits of an ID.
const orders = pgTable("orders_drizzle", {
  id: bigint("id", { mode: "bigint" }).primaryKey(),
  article: text("article").notNull(),
});
await db.execute(sql`CREATE TABLE IF NOT EXISTS ${orders} (id bigint PRIMARY KEY, article text NOT NULL)`);

const count = Number(process.argv[2] ?? 1);
for (let saved = 0; saved < count; saved += 1_000) {
  const batch = await ids.nextIds(Math.min(1_000, count - saved));
  await db.insert(orders).values(batch.map((id) => ({ id, article: "tea" })));
}
for (const { id } of (await db.select().from(orders).orderBy(desc(orders.id)).limit(2)).toReversed()) {
  const { createTimeMs } = await client.parse(id);
  console.log(`${id} ${new Date(createTimeMs).toISOString()}`);
}
await db.$client.end();
client.close();
