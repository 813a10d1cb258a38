/** The clock of a store, as a scrape shows it. */
import { expect, onTestFinished, test } from "vitest";
import { checkScrape } from "../support/metrics/check-scrape.ts";
import { parseScrape, scrapeText } from "../support/metrics/scrape.ts";
import { runServer } from "../support/processes/running-server.ts";
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
