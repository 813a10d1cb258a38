import { expect, test } from "vitest";
import { createLayout } from "../snowflake/layout.ts";
import { layouts } from "../snowflake/presets.ts";
import { startMessage, type StartFacts } from "./start-message.ts";

function messageOf(change: Partial<StartFacts> = {}, host = "127.0.0.1", layout = layouts.twitter): string {
  const grant = { datacenterId: 3, workerId: 7 };
  const server = { address: { host, port: 7609 }, source: { layout, status: () => ({ grant }) } } as never;
  const facts = { server, storeUrl: "sqlite:ids.db", version: "1.0.0", security: "cleartext", page: "on" } as const;
  return startMessage({ ...facts, nowMs: Date.UTC(2026, 0, 1), ...change });
}

test("the commands name an address that can be reached, and quote the brackets of one", () => {
  expect(messageOf({}, "0.0.0.0")).toContain(" http://127.0.0.1:7609/");
  expect(messageOf({}, "::")).toContain("grpcurl -plaintext '[::1]:7609' ");
  expect(messageOf({}, "::1")).toContain(" 'http://[::1]:7609/snowlane.v1.IdService/NextId'\n");
});

test("the page's address is printed where there is a page", () => {
  expect(messageOf({}, "0.0.0.0")).toContain("\nOpen http://127.0.0.1:7609/ in a browser, or try:\n");
  expect(messageOf({ security: "tls" }, "::1")).toContain("\nOpen https://[::1]:7609/ in a browser");
  expect(messageOf({ page: "off" })).toContain("\nTry:\n");
});

test("the commands speak TLS where the server does", () => {
  const message = messageOf({ security: "tls" });
  expect(message).toContain(" https://127.0.0.1:7609/");
  expect(message).toContain("  grpcurl 127.0.0.1:7609 ");
});

test("worker, layout and years left are printed, and no password", () => {
  expect(messageOf()).toContain("; 54.5 years left, until 2080-07-10\n  worker  datacenter 3, worker 7\n");
  const { epochMs, tickNs } = layouts.twitter;
  const fields = [
    { kind: "timestamp", bits: 41 },
    { kind: "worker", bits: 10 },
    { kind: "sequence", bits: 12 },
  ] as const;
  const message = messageOf(
    { storeUrl: "postgres://me:secret@db/ids" },
    "127.0.0.1",
    createLayout({ name: "custom", epochMs, tickNs, fields }),
  );
  expect(message).toContain("  worker  worker 7\n");
  expect(message).not.toContain("secret");
});
