import { hostname } from "node:os";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { makeCertificates } from "../support/processes/certificates.ts";
import { startNginx } from "../support/servers/nginx-proxy.ts";
import { webWorld } from "../support/web/web-world.ts";

/** The page over HTTP/2 with TLS, by either implementation, and behind a proxy, at its root and under a prefix. */

const world = webWorld();

async function useAll(page: Page): Promise<void> {
  await page.getByText("serving").first().waitFor();
  await page.getByRole("button", { name: "Generate" }).click();
  await page.locator(".when.id").waitFor();
  await page.getByLabel("How many").fill("100000");
  await page.getByRole("button", { name: "Generate" }).click();
  await page.getByText("100,000 IDs, ready to download").waitFor();
  await page.getByRole("link", { name: "Watch" }).click();
  await page.getByRole("row").filter({ hasText: "this server" }).getByText(hostname()).first().waitFor();
  await page.locator(".chart canvas").nth(5).waitFor();
}

test.each(["node", "engine"])("over HTTP/2 with TLS, by --http2 %s", async (http2) => {
  const { server: files, remove } = await makeCertificates();
  onTestFinished(remove);
  const tls = ["--tls-cert", files.certFile, "--tls-key", files.keyFile];
  const { address } = await world.startServer(["--http2", http2, ...tls]);
  const page = await world.open({ origin: `https://${address}`, context: { ignoreHTTPSErrors: true } });
  const protocols = await page.evaluate(
    `performance.getEntriesByType("navigation").concat(performance.getEntriesByType("resource"))
      .map(({ nextHopProtocol }) => nextHopProtocol)`,
  );
  expect(new Set(protocols as string[])).toEqual(new Set(["h2"]));
  await useAll(page);
});

test("behind nginx, over HTTP/1.1", async () => {
  const { address } = await world.startServer();
  const { http1Url, server } = await startNginx({ upstreams: [address], upstreamConnections: "kept" });
  onTestFinished(() => server.stop());
  await useAll(await world.open({ origin: http1Url }));
});

test.each(["/sub/", "/a/b/"])(
  "PAGE 5: behind nginx under the prefix %s, every file and call stays below it",
  async (prefix) => {
    const { address } = await world.startServer();
    const { http1Url, server } = await startNginx({
      upstreams: [address],
      upstreamConnections: "kept",
      prefixes: [prefix],
    });
    onTestFinished(() => server.stop());
    const page = await world.open({ origin: http1Url, path: `${prefix}#/generate` });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.reload();
    await useAll(page);
    await page.getByRole("link", { name: "Proof", exact: true }).click();
    await page.locator("#proof canvas").waitFor();
    await page.getByRole("link", { name: "Generate", exact: true }).click();
    await expect
      .poll(() => page.locator(".code pre").innerText())
      .toContain(`${http1Url}${prefix}snowlane.v1.IdService/NextId`);
    expect(asked.filter((url) => url.includes("/snowlane.v1.")).length).toBeGreaterThan(3);
    expect(asked.filter((url) => url.includes("/assets/")).length).toBeGreaterThan(3);
    expect(asked.filter((url) => !url.startsWith(http1Url + prefix))).toEqual([]);
  },
);
