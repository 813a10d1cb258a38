import { expect, test } from "vitest";
import { Endpoints } from "./endpoints.ts";
import { SnowlaneError } from "./errors.ts";
import { FakeClock } from "./fake-clock.ts";

const down = (retryAfterMs?: number) => new SnowlaneError("UNREACHABLE", "down", { code: "UNAVAILABLE", retryAfterMs });

test("a client stays with one endpoint, and moves by itself only after minutes", async () => {
  const clock = new FakeClock();
  const endpoints = new Endpoints(["a", "b", "c", "d"], clock, Math.random);
  const first = endpoints.choose().endpoint;
  await clock.advance(299_000);
  for (let count = 0; count < 100; count++) expect(endpoints.choose()).toEqual({ endpoint: first, waitMs: 0 });
  const seen = new Set<string>();
  for (let count = 0; count < 100; count++) {
    await clock.advance(900_000);
    seen.add(endpoints.choose().endpoint.url);
  }
  expect([...seen].toSorted((a, b) => a.localeCompare(b))).toEqual(["a", "b", "c", "d"]);
});

test("clients that lose a server spread over the others, and over time", () => {
  const counts: Record<string, number> = { b: 0, c: 0 };
  const waits = new Set<number>();
  for (let client = 0; client < 1_000; client++) {
    const endpoints = new Endpoints(["a", "b", "c"], new FakeClock(), Math.random);
    const { endpoint } = endpoints.choose();
    if (endpoint.url !== "a") continue;
    endpoints.noteFailure(endpoint, down());
    const next = endpoints.choose();
    counts[next.endpoint.url] = (counts[next.endpoint.url] ?? 0) + 1;
    expect(next.waitMs).toBeLessThan(20);
    waits.add(next.waitMs);
  }
  expect(Object.keys(counts)).toEqual(["b", "c"]);
  expect(Math.min(counts["b"] ?? 0, counts["c"] ?? 0)).toBeGreaterThan(50);
  expect(waits.size).toBeGreaterThan(100);
});

test("when all are down, the one that is up again first is next, no sooner than that", async () => {
  const clock = new FakeClock();
  const endpoints = new Endpoints(["a", "b"], clock, () => 0);
  const { endpoint: a } = endpoints.choose();
  endpoints.noteFailure(a, down(700));
  const { endpoint: b } = endpoints.choose();
  expect([a.url, b.url]).toEqual(["a", "b"]);
  endpoints.noteFailure(b, down(300));
  expect(endpoints.choose()).toEqual({ endpoint: b, waitMs: 300 });
  await clock.advance(300);
  expect(endpoints.choose()).toEqual({ endpoint: b, waitMs: 0 });
});
