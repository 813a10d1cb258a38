/** The clock of a store. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { FakedClock } from "../fault/faked-clock.ts";
import { checkScrape } from "../support/metrics/check-scrape.ts";
import { parseScrape, scrapeText } from "../support/metrics/scrape.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";
import { startMariadb } from "../support/servers/mariadb-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";

test("a scrape says how far the clock of PostgreSQL is ahead, in seconds", async () => {
  const postgres = await startPostgres();
  onTestFinished(() => postgres.stop());
  const { url, server } = await runServer({ store: postgres.url });
  const text = await scrapeText(url);
  await checkScrape(text);
  const aheadSeconds = parseScrape(text).get("snowlane_store_clock_ahead_seconds");
  expect(aheadSeconds).toBeCloseTo(server.source.status().store.clockAheadMs! / 1_000, 1);
  // Both clocks are that of this machine.
  expect(Math.abs(aheadSeconds!)).toBeLessThan(1);
});

test("a MariaDB whose clock is before its own start tells its time (it was said not to)", async () => {
  const clock = await FakedClock.create(join(temporaryFolder(), "offset"));
  const mariadb = await startMariadb([], clock.environment);
  onTestFinished(() => mariadb.stop());
  const store = await openStore(mariadb.url, { namespace: "default", callTimeoutMs: 30_000 });
  onTestFinished(() => store.close());
  const before = await store.moment();
  clock.step(-40_000);
  const after = await store.moment();
  expect(after.incarnation).toEqual(before.incarnation);
  expect(after.clockMs! - before.clockMs!).toBeLessThan(0);
});
