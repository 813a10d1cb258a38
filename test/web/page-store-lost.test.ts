import { hostname } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { webWorld } from "../support/web/web-world.ts";

/** What an open page shows while its server has lost its store, and afterwards. */

const world = webWorld();

test("a store that is frozen, gone and back is shown by Watch, and reported by Generate in words", async () => {
  const store = await startPostgres();
  onTestFinished(() => store.stop());
  const server = await world.startServer(["--store", store.url, "--window", "3s"]);
  const page = await world.open({ origin: server.url, path: "/#/watch", expected: /status of 50[034]/ });
  const said = page.getByRole("region", { name: "This server" });
  await said.getByText("postgres").waitFor();
  await page.getByRole("row").filter({ hasText: "held" }).first().waitFor();
  expect(await said.innerText()).not.toContain("failed");

  store.pause();
  await said.getByText(/^a call to it failed, last answered [\d.]+ s ago/).waitFor();
  await page.getByText(/^This server issues no IDs now\. The server cannot reach its store\./).waitFor();
  await page
    .getByText("The state of the server is unknown. The server cannot reach its store.", { exact: false })
    .waitFor();
  await page.locator(".pill").getByText("not serving").waitFor();
  await page.getByRole("link", { name: "Generate" }).click();
  await page.getByRole("button", { name: "Generate" }).click();
  const told = "The server cannot reach its store. It tries again by itself.";
  await page.getByText(told, { exact: false }).waitFor();
  expect(await page.locator(".when.id").count()).toBe(0);

  await store.kill();
  await page.getByRole("link", { name: "Watch" }).click();
  await page.getByText("This server issues no IDs now. The server cannot reach", { exact: false }).waitFor();
  // The last list of the workers stays on the screen.
  await page.getByRole("row").filter({ hasText: hostname() }).first().waitFor();

  await store.restart();
  await page
    .locator(".pill")
    .getByText(/as worker/)
    .waitFor();
  await said.getByText(/^last answered/).waitFor();
  await page.getByRole("row").filter({ hasText: "this server" }).getByText("held").waitFor();
  await page.getByText("This server issues no IDs now.", { exact: false }).waitFor({ state: "detached" });
  await page.getByText("The state of the server is unknown.", { exact: false }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Generate" }).click();
  await page.getByRole("button", { name: "Generate" }).click();
  await page.locator(".when.id").waitFor();
});
