// A model of Prisma with an ID of Snowlane. Saves one order, then prints each order with the time in its ID.
import { createNodeClient } from "@snowlane/client/node";
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "./generated/client.ts";

const client = createNodeClient({ endpoints: [process.env["SNOWLANE_URL"]!] });
const ids = client.prefetch();
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env["DATABASE_URL"]! }) });
await prisma.$executeRaw`CREATE TABLE IF NOT EXISTS orders_prisma (id bigint PRIMARY KEY, article text NOT NULL)`;

await prisma.order.create({ data: { id: await ids.nextId(), article: "tea" } });
for (const { id } of await prisma.order.findMany({ orderBy: { id: "asc" } })) {
  const { createTimeMs } = await client.parse(id);
  console.log(`${id} ${new Date(createTimeMs).toISOString()}`);
}
await prisma.$disconnect();
client.close();
