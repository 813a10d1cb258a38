/** The metrics of the listener for operators. */
import { expect, test } from "vitest";
import { formatAddress } from "../../src/config/address.ts";
import { askHttp2 } from "../support/http2/http-call.ts";
import { checkScrape } from "../support/metrics/check-scrape.ts";
import { callsLine, parseScrape, scrapeText } from "../support/metrics/scrape.ts";
import { principalsFile } from "../support/processes/principals-file.ts";
import { runServer } from "../support/processes/running-server.ts";

test.each([
  ["an open server", false],
  ["a server with principals", true],
])("promtool finds no fault in the scrape of the admin listener of %s", async (_name, isClosed) => {
  const closed = { principals: principalsFile([{ name: "shop", permissions: ["ids"] }]).path };
  const { url, server } = await runServer({ adminListen: "127.0.0.1:0", ...(isClosed ? closed : {}) });
  const nextId = "snowlane.v1.IdService/NextId";
  await askHttp2(url, { path: `/${nextId}`, body: "{}" });
  const text = await scrapeText(`http://${formatAddress(server.adminAddress!)}`);
  await checkScrape(text);
  expect(parseScrape(text).get(callsLine(nextId, isClosed ? "UNAUTHENTICATED" : "OK"))).toBe(1);
});
