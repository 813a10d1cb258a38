/**
 * DNS rebinding in a real browser: a page of another site whose name, once the page has come, leads to our server. The
 * browser takes the two for one site, so no rule of its own keeps the page out.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChromiumBrowser, startChromium } from "../support/processes/chromium-browser.ts";
import { runServer, temporaryFolder } from "../support/processes/running-server.ts";

let chromium: ChromiumBrowser;
beforeAll(async () => {
  chromium = await startChromium(undefined, ["--host-resolver-rules=MAP evil.test 127.0.0.1"]);
});
afterAll(() => chromium?.close());

/** Opens the page of the other site, and then ends the site, so that its port is free for ours. */
async function openEvilPage(): Promise<{ readonly page: Page; readonly port: number }> {
  const site: Server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html", connection: "close" }).end("<title>evil</title>");
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  const { port } = site.address() as AddressInfo;
  const page = await chromium.browser.newPage();
  await page.goto(`http://evil.test:${port}/`);
  const closed = once(site, "close");
  site.close();
  site.closeAllConnections();
  await closed;
  return { page, port };
}

/** The status and the text of each thing that the page can do with an ID, or with what the server knows. */
const attack = async (page: Page): Promise<readonly (readonly [number, string])[]> => {
  const service = "/snowlane.v1.IdService";
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  const frames = { ...post, headers: { "content-type": "application/grpc-web+proto" }, body: "\0\0\0\0\0" };
  const calls = [
    [`${service}/NextId`, post],
    [`${service}/ReserveIds`, { ...post, body: '{"count":5}' }],
    [`${service}/NextId`, frames],
  ] as const;
  const answers: (readonly [number, string])[] = [];
  for (const [path, options] of calls) {
    answers.push(
      await page.evaluate(
        async ([path, options]) => {
          const response = await fetch(path, options);
          return [response.status, await response.text()] as const;
        },
        [path, options] as const,
      ),
    );
  }
  return answers;
};

const open = () => ({ auth: "none", store: `sqlite:${join(temporaryFolder(), "ids.db")}` });

test.each([
  ["loopback", "127.0.0.1", () => ({})],
  ["an open address", "0.0.0.0", open],
])("a page that rebinds its name gets 403 and no ID from a server on %s", async (_where, host, flags) => {
  const { page, port } = await openEvilPage();
  const { server } = await runServer({ listen: `${host}:${port}`, ...flags() });
  for (const [status, text] of await attack(page)) {
    expect(status).toBe(403);
    expect(text).toContain("HOST_NOT_ALLOWED");
  }
  expect(server.source.status().counters.issued).toBe(0);
  await page.close();
});

test("without the check the same page gets IDs", async () => {
  const { page, port } = await openEvilPage();
  const { server } = await runServer({ listen: `127.0.0.1:${port}`, hosts: "any" });
  expect((await attack(page)).map(([status]) => status)).toEqual([200, 200, 200]);
  expect(server.source.status().counters.issued).toBeGreaterThanOrEqual(7);
  await page.close();
});
