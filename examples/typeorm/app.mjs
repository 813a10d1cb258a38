// An entity of TypeORM whose IDs come from Snowlane. Saves one order, or COUNT, then prints the
// newest two with the time in their IDs.
import { createNodeClient } from "@snowlane/client/node";
import { DataSource, EntitySchema } from "typeorm";

const client = createNodeClient({ endpoints: process.env.SNOWLANE_URL.split(","), timeoutMs: 60_000 });
const ids = client.prefetch();

// TypeORM reads a bigint of PostgreSQL as a string, which loses no digit.
const Order = new EntitySchema({
  name: "Order",
  tableName: "orders_typeorm",
  columns: { id: { type: "bigint", primary: true }, article: { type: "text" } },
});
const source = new DataSource({
  type: "postgres",
  url: process.env.DATABASE_URL,
  entities: [Order],
  synchronize: true,
});
await source.initialize();
const orders = source.getRepository(Order);

const count = Number(process.argv[2] ?? 1);
for (let saved = 0; saved < count; saved += 1_000) {
  const batch = await ids.nextIds(Math.min(1_000, count - saved));
  await orders.insert(batch.map((id) => ({ id: String(id), article: "tea" })));
}
for (const { id } of (await orders.find({ order: { id: "DESC" }, take: 2 })).toReversed()) {
  const { createTimeMs } = await client.parse(id);
  console.log(`${id} ${new Date(createTimeMs).toISOString()}`);
}
await source.destroy();
client.close();
