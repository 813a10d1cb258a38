// A model of Prisma whose IDs come from Snowlane. Saves one order, or COUNT, then prints the
// newest two with the time in their IDs.
import { createNodeClient } from "@snowlane/client/node";
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "./generated/client.ts";

const client = createNodeClient({ endpoints: process.env["SNOWLANE_URL"]!.split(","), timeoutMs: 60_000 });
const ids = client.prefetch();
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env["DATABASE_URL"]! }) });
await prisma.$executeRaw`CREATE TABLE IF NOT EXISTS orders_prisma (id bigint PRIMARY KEY, article text NOT NULL)`;

const count = Number(process.argv[2] ?? 1);
for (let saved = 0; saved < count; saved += 1_000) {
  const batch = await ids.nextIds(Math.min(1_000, count - saved));
  await prisma.order.createMany({ data: batch.map((id) => ({ id, article: "tea" })) });
}
for (const { id } of (await prisma.order.findMany({ orderBy: { id: "desc" }, take: 2 })).toReversed()) {
  const { createTimeMs } = await client.parse(id);
  console.log(`${id} ${new Date(createTimeMs).toISOString()}`);
}
await prisma.$disconnect();
client.close();
