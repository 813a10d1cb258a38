// A table of Drizzle with an ID of Snowlane. Saves one order, then prints each order with the time in its ID.
import { createNodeClient } from "@snowlane/client/node";
import { asc, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { bigint, pgTable, text } from "drizzle-orm/pg-core";

const client = createNodeClient({ endpoints: [process.env.SNOWLANE_URL] });
const ids = client.prefetch();
const db = drizzle(process.env.DATABASE_URL);

// mode "bigint", because a number would lose the last digits of an ID.
const orders = pgTable("orders_drizzle", {
  id: bigint("id", { mode: "bigint" }).primaryKey(),
  article: text("article").notNull(),
});
await db.execute(sql`CREATE TABLE IF NOT EXISTS ${orders} (id bigint PRIMARY KEY, article text NOT NULL)`);

await db.insert(orders).values({ id: await ids.nextId(), article: "tea" });
for (const { id } of await db.select().from(orders).orderBy(asc(orders.id))) {
  const { createTimeMs } = await client.parse(id);
  console.log(`${id} ${new Date(createTimeMs).toISOString()}`);
}
await db.$client.end();
client.close();
