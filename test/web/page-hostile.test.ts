import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import {
  GetStatusResponseSchema,
  ListWorkersResponseSchema,
  WorkerState,
} from "../../src/gen/snowlane/v1/admin_service_pb.ts";
import { ListSequencesResponseSchema } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { webWorld } from "../support/web/web-world.ts";

/** Text that would be markup, in every field of the page and in everything that a server says: it stays text. */

const world = webWorld();
const hostile = `"><img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`;

/** Nothing became an element, and nothing ran. */
async function expectText(page: Page, title: string): Promise<void> {
  expect(await page.locator("#page img, #page script, #page iframe").count()).toBe(0);
  expect(await page.title()).toBe(title);
}

/** Types the hostile text into every field that is there, and gives the fields' names. */
async function fillAll(page: Page): Promise<readonly string[]> {
  const fields = await page.getByRole("main").getByRole("textbox").all();
  for (const field of fields) if (await field.isEditable()) await field.fill(hostile);
  const names = await page
    .getByRole("main")
    .getByRole("textbox")
    .evaluateAll((fields) =>
      fields.map(
        (field) => (field as unknown as { labels: readonly { innerText: string }[] }).labels[0]?.innerText ?? "",
      ),
    );
  return names;
}

test("in every field of Generate", async () => {
  const page = await world.open();
  const title = await page.title();
  expect(await fillAll(page)).toEqual(["How many"]);
  for (const [form, names] of [
    ["serial", ["How many", "Prefix", "Offset from UTC"]],
    ["typed", ["How many", "Type"]],
  ] as const) {
    await page.getByLabel("Text form").selectOption({ label: form });
    expect(await fillAll(page)).toEqual(names);
    expect(await page.getByRole("button", { name: "Generate" }).isDisabled()).toBe(true);
  }
  await page.getByRole("button", { name: "In the browser" }).click();
  await page.getByLabel("Layout", { exact: true }).selectOption("custom");
  const names = await fillAll(page);
  for (const name of ["Time", "Datacenter", "Worker", "Sequence", "Epoch, as a date (UTC)", "Bits of time"])
    expect(names).toContain(name);
  await page.getByText("Correct the fields that are marked").waitFor();
  // Every field that is wrong says so beside it.
  expect(await page.locator("[aria-invalid]").count()).toBeGreaterThan(5);
  await expectText(page, title);
});

test("in every part of the address of Generate and Learn", async () => {
  const typed = encodeURIComponent(hostile);
  const names = ["count", "time", "datacenter", "worker", "sequence", "prefix", "offset", "type", "check"];
  const query = names.map((name) => `${name}=${typed}`).join("&");
  const page = await world.open({ path: `/#/generate?from=hand&form=serial&${query}` });
  await page.getByText("Correct the fields that are marked").waitFor();
  expect(await page.getByLabel("Time", { exact: true }).inputValue()).toBe(hostile);
  expect(await page.getByLabel("Prefix").inputValue()).toBe(hostile);
  await expectText(page, "Generate IDs · Snowlane");
  for (const part of [
    `layout=${typed}`,
    `layout=custom&fields=${typed}&tick=1000000`,
    `epoch=${typed}&layout=twitter`,
  ]) {
    const other = await world.open({ path: `/#/learn?${part}` });
    await other.getByText("The link has a part that could not be read.").waitFor();
    await expectText(other, "How an ID works · Snowlane");
  }
});

test("in every field of Learn and of Parse", async () => {
  const page = await world.open({ path: "/#/learn" });
  const title = await page.title();
  await page.getByLabel("Layout", { exact: true }).selectOption("custom");
  expect((await fillAll(page)).length).toBe(6);
  await page.getByText("Write a date such as 2020-01-01.").waitFor();
  await page.getByText("Write Unix milliseconds, such as 1577836800000.").waitFor();
  await expectText(page, title);
  await page.getByRole("link", { name: "Parse" }).click();
  expect((await fillAll(page)).length).toBe(7);
  await page.getByText("This is not an ID").waitFor();
  await expectText(page, "Parse an ID · Snowlane");
});

test("in the fields of Watch, the token's included", async () => {
  const page = await world.open({ path: "/#/watch", expected: /status of 401/ });
  await page.getByRole("row").filter({ hasText: "this server" }).waitFor();
  const title = await page.title();
  expect(await fillAll(page)).toEqual(["Find"]);
  await page.getByText("0 of 1 worker ID that was ever held.").waitFor();
  await expectText(page, title);
  const answer = { code: "unauthenticated", message: hostile };
  await page.route("**/snowlane.v1.*/*", (route) => route.fulfill({ status: 401, json: answer }));
  await page.getByRole("textbox", { name: "Token" }).fill(hostile);
  await page.getByRole("button", { name: "Use this token" }).isVisible();
  await expectText(page, title);
});

test("in the errors of a server: a message, and the permission that is missing", async () => {
  const page = await world.open({ expected: /status of (500|403)/ });
  const title = await page.title();
  const info = create(ErrorInfoSchema, {
    reason: "METHOD_DENIED",
    domain: "snowlane.dev",
    metadata: { permission: hostile },
  });
  const value = Buffer.from(toBinary(ErrorInfoSchema, info)).toString("base64");
  for (const [status, answer, said] of [
    [500, { code: "internal", message: hostile }, hostile],
    [
      403,
      { code: "permission_denied", message: "no", details: [{ type: "google.rpc.ErrorInfo", value }] },
      `Your credentials lack the permission ${hostile}.`,
    ],
  ] as const) {
    await page.route("**/snowlane.v1.IdService/NextId", (route) => route.fulfill({ status, json: answer }));
    await page.getByRole("button", { name: "Generate" }).click();
    await expect.poll(() => page.getByRole("alert").innerText()).toContain(said);
    await page.unroute("**/snowlane.v1.IdService/NextId");
  }
  await expectText(page, title);
});

test("in every text that Watch gets: hosts, instances, versions, reasons, stores, sequences", async () => {
  const page = await world.open();
  await page.getByText("serving").waitFor();
  const answer = <Schema extends DescMessage>(method: string, schema: Schema, message: MessageInitShape<Schema>) =>
    page.route(`**/snowlane.v1.${method}`, (route) =>
      route.fulfill({ contentType: "application/proto", body: Buffer.from(toBinary(schema, create(schema, message))) }),
    );
  const inAnHour = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 3_600), nanos: 0 };
  const holder = { instance: hostile, host: hostile, version: hostile, processId: 1n };
  await answer("AdminService/ListWorkers", ListWorkersResponseSchema, {
    workers: [{ datacenterId: 3, workerId: 4, state: WorkerState.HELD, holder }],
    workerIdCount: 1_024n,
    quarantineEndTime: inAnHour,
    quarantineReason: hostile,
  });
  await answer("AdminService/GetStatus", GetStatusResponseSchema, {
    status: { serving: false, notServingReason: hostile, store: hostile },
  });
  await answer("SequenceService/ListSequences", ListSequencesResponseSchema, {
    sequences: [{ name: hostile, description: hostile, textTemplate: hostile, nextValue: 1n }],
  });
  await page.getByRole("link", { name: "Watch" }).click();
  await page.getByRole("row").filter({ hasText: "3 / 4" }).waitFor();
  const said = await page.getByRole("main").innerText();
  expect(said).toContain(`This server issues no IDs now. The server says: ${hostile}`);
  expect(said).toMatch(/No worker ID is granted until \d{4}-\d\d-\d\d/);
  // Reason of the stop, of the quarantine; store; host, instance and version; name, description and template.
  expect(said.split(hostile)).toHaveLength(10);
  await expectText(page, "Watch the workers · Snowlane");
});
