import { readFileSync, writeFileSync } from "node:fs";
import { Code } from "@connectrpc/connect";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import {
  GetStatusResponseSchema,
  ListWorkersResponseSchema,
  WorkerState,
} from "../../src/gen/snowlane/v1/admin_service_pb.ts";
import { NextIdResponseSchema } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { ListSequencesResponseSchema } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { composeId, msToTicksDown } from "../../src/snowflake/layout.ts";
import { layouts } from "../../src/snowflake/presets.ts";
import { version } from "../../src/version.ts";
import { webWorld } from "../support/web/web-world.ts";

/**
 * The pictures of the views that README.md and docs/page.md show. `DOCS_PICTURE=write` takes them again; without it,
 * each view is compared by its words with those that it had when its picture was taken.
 *
 * The server's answers on Generate and Watch are made up here, so that the words are the same each time.
 */

const world = webWorld(["--datacenter-id", "11", "--worker-id", "26"]);
const origin = "https://ids.example.com";
const nowMs = Date.UTC(2026, 10, 28, 21, 40);
const at = (ms: number) => ({ seconds: BigInt(Math.floor(ms / 1_000)), nanos: (ms % 1_000) * 1e6 });
const lasting = (ms: number) => ({ seconds: BigInt(Math.floor(ms / 1_000)), nanos: Math.round((ms % 1_000) * 1e6) });

/** Opens a view as a server of that origin would show it, at a fixed time. The browser asks no other machine. */
async function openView(
  fragment: string,
  prepare: (page: Page) => Promise<unknown> = async () => undefined,
): Promise<Page> {
  const context = { colorScheme: "light", timezoneId: "Africa/Nairobi" } as const;
  const page = await world.open({ context, expected: /^request: / });
  await page.clock.setFixedTime(nowMs);
  await page.route(`${origin}/**`, async (route: Route) => {
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: world.server().url + pathname }) });
  });
  await prepare(page);
  await page.goto(`${origin}/${fragment}`);
  await page.locator(".pill.serving").waitFor();
  return page;
}

const answer = <Schema extends DescMessage>(
  page: Page,
  method: string,
  schema: Schema,
  message: MessageInitShape<Schema>,
) => {
  const body = Buffer.from(toBinary(schema, create(schema, message)));
  return page.route(`${origin}/snowlane.v1.${method}`, (route) =>
    route.fulfill({ contentType: "application/proto", body }),
  );
};

const newId = (index: number): bigint => {
  const ticks = msToTicksDown(layouts.twitter, nowMs + index * 1_357);
  return composeId(layouts.twitter, { ticks, datacenterId: 11, workerId: 26, sequence: index });
};

const errorsAt = (second: number): number => (second > 214 && second < 220 ? 3 + (second % 3) : 0);

/** Five minutes with a burst, some refusals, and a window that is renewed. */
const samples = Array.from({ length: 300 }, (_, second) => {
  const wave = Math.sin(second / 24) * 90 + Math.sin(second * 1.7) * 20;
  const isBurst = second === 182;
  return {
    index: BigInt(second + 1),
    time: at(nowMs - (299 - second) * 1_000),
    idsCount: BigInt(isBurst ? 9_512 : Math.round(450 + wave)),
    callCount: BigInt(isBurst ? 96 : Math.round(61 + wave / 9)),
    errorCount: BigInt(errorsAt(second)),
    errorCodes: errorsAt(second) === 0 ? [] : [{ code: Code.ResourceExhausted, count: BigInt(errorsAt(second)) }],
    p50: lasting(0.25),
    p99: lasting(isBurst ? 5 : second % 7 === 0 ? 1 : 0.5),
    lead: lasting(isBurst ? 3 : 0),
    windowLeft: lasting(30_000 - (second % 15) * 500),
  };
});

async function answerWatch(page: Page): Promise<void> {
  const status = {
    serving: true,
    phase: "holding",
    startTime: at(nowMs - 86_400_000),
    datacenterId: 11,
    workerId: 26,
    generation: 3n,
    grantTime: at(nowMs - 86_399_000),
    windowLeft: lasting(24_100),
    lead: lasting(0),
    store: "postgres",
    storeReachable: true,
    storeAnswerAge: lasting(400),
    storeClockAhead: lasting(2),
    connectionCount: 12n,
  };
  await answer(page, "AdminService/GetStatus", GetStatusResponseSchema, { status, samples });
  const holder = (host: string, ageMs: number) => ({
    instance: "snowlane",
    host,
    version,
    processId: 1n,
    startTime: at(nowMs - ageMs),
  });
  await answer(page, "AdminService/ListWorkers", ListWorkersResponseSchema, {
    workers: [
      {
        datacenterId: 11,
        workerId: 3,
        state: WorkerState.EXPIRED,
        holder: holder("orders-7f4b9", 1.8e7),
        markTime: at(nowMs + 21_000),
      },
      {
        datacenterId: 11,
        workerId: 12,
        state: WorkerState.RELEASED,
        holder: holder("orders-2c1aa", 3e7),
        markTime: at(nowMs + 24_000),
      },
      {
        datacenterId: 11,
        workerId: 26,
        state: WorkerState.HELD,
        holder: holder("ids-0", 8.64e7),
        markTime: at(nowMs + 24_000),
      },
      {
        datacenterId: 11,
        workerId: 27,
        state: WorkerState.HELD,
        holder: holder("ids-1", 8.64e7),
        markTime: at(nowMs + 21_000),
      },
    ],
    workerIdCount: 1_024n,
    freeCount: 1_022n,
  });
  await answer(page, "SequenceService/ListSequences", ListSequencesResponseSchema, {
    sequences: [
      { name: "invoices", description: "They begin again each year", nextValue: 20_417n, leftCount: 979_583n },
      { name: "orders", nextValue: 4_182_001n, leftCount: 9_223_372_036_850_593_806n },
    ],
  });
}

/** The views, each with something on it, by the names of their pictures. */
const views = {
  page: async () => {
    const page = await openView("#/parse?id=1541815603606036522&layout=twitter");
    await page.getByText("made by worker 26").waitFor();
    await page.getByRole("region", { name: "IDs of the same" }).waitFor();
    return page;
  },
  generate: async () => {
    let count = 0;
    const page = await openView("#/generate", (opened) =>
      opened.route(`${origin}/snowlane.v1.IdService/NextId`, (route) => {
        const body = Buffer.from(toBinary(NextIdResponseSchema, create(NextIdResponseSchema, { id: newId(count++) })));
        return route.fulfill({ contentType: "application/proto", body });
      }),
    );
    await page.getByRole("region", { name: "The same from code" }).waitFor();
    for (let presses = 1; presses <= 4; presses++) {
      await page.getByRole("button", { name: "Generate", exact: true }).click();
      await page
        .locator(".when.id")
        .getByText(String(newId(presses - 1)))
        .waitFor();
    }
    return page;
  },
  watch: async () => {
    const page = await openView("#/watch", answerWatch);
    await page.locator(".chart canvas").nth(5).waitFor();
    await page.getByRole("rowheader", { name: /^orders/ }).waitFor();
    await page.getByRole("row").filter({ hasText: "this server" }).waitFor();
    return page;
  },
  proof: async () => {
    const page = await openView("#/proof?seed=11&rule=no-floor&f=wipe.4000.2");
    await page
      .getByText(/came twice, the first/)
      .first()
      .waitFor();
    return page;
  },
} as const satisfies Readonly<Record<string, () => Promise<Page>>>;

test.each(Object.keys(views) as readonly (keyof typeof views)[])(
  "docs/pictures/%s.png shows the words of its view",
  async (name) => {
    const page = await views[name]();
    // How long a call took is another each time, and a release changes the version.
    const said = (await page.getByRole("main").innerText())
      .replace(/^(1 ID in )[\d.,]+ ms/m, "$1ms")
      .replaceAll(/\b\d+\.\d+\.\d+\b/g, "VERSION");
    const place = `docs/pictures/${name}`;
    if (process.env["DOCS_PICTURE"] === "write") {
      await page.mouse.move(0, 0);
      await page.screenshot({ path: `${place}.png`, fullPage: true });
      writeFileSync(`${place}.txt`, `${said}\n`);
    }
    const message = `${place}.png is old: docs/page.md says how to renew it`;
    expect(`${said}\n`, message).toBe(readFileSync(`${place}.txt`, "utf8"));
  },
);
