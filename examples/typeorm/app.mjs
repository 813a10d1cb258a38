// An entity of TypeORM with an ID of Snowlane. Saves one order, then prints each order with the time in its ID.
import { createNodeClient } from "@snowlane/client/node";
import { DataSource, EntitySchema } from "typeorm";

const client = createNodeClient({ endpoints: [process.env.SNOWLANE_URL] });
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

await orders.insert({ id: String(await ids.nextId()), article: "tea" });
for (const { id } of await orders.find({ order: { id: "ASC" } })) {
  const { createTimeMs } = await client.parse(id);
  console.log(`${id} ${new Date(createTimeMs).toISOString()}`);
}
await source.destroy();
client.close();
