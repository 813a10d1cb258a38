/**
 * Writes docs/reports/ways.md, the list of which method takes which way through the server, from the services' own
 * lists. Part of `npm run generate`.
 */
import { writeFileSync } from "node:fs";
import { createAdminService } from "../src/service/admin-service.ts";
import { createHealth, createHealthBoard } from "../src/service/health.ts";
import { createIdService } from "../src/service/id-service.ts";
import { createSequenceService } from "../src/service/sequence-service.ts";
import type { Service } from "../src/service/service.ts";
import { layouts } from "../src/snowflake/presets.ts";
import type { IdSource } from "../src/worker/id-source.ts";

export const waysFile = "docs/reports/ways.md";

const head = `<!-- Written by npm run generate from the lists of src/service/. Do not edit. -->

# Which method takes which way

A call takes one of three ways through the server ([architecture.md](../architecture.md#the-way-of-a-call)):

- **hot**: answered on bytes, in gRPC, gRPC-Web and Connect, without an object for a message. The last column
  says whether it is so in JSON, too.
- **direct**: answered on bytes in the binary form alone. protobuf-es makes an object for each message, and the call
  waits for a turn of its own where its connection sends many at once.
- **general**: answered by Connect's handlers.

A call of any method takes the general way where it is not plain: with compression, text forms, unknown fields or odd JSON,
and over HTTP/2 with \`--http2 node\`. [ADR 0120](../adr/0120-hot-in-every-protocol.md) has the reasons.
`;

/** Makes every service. None is called, so none needs what it would work with. */
function everyService(): readonly Service[] {
  const unused = {} as never;
  const batchCountMax = 1;
  const services = [
    createIdService({
      source: { layout: layouts.twitter, onStateChange: () => () => undefined } as unknown as IdSource,
      clock: unused,
      namespace: "default",
      rollbackPolicy: "advance",
      batchCountMax,
      fingerprintNow: () => "",
      bindingNow: () => unused,
    }),
    createSequenceService({ sequences: unused, clock: unused, batchCountMax }),
    createAdminService({ listWorkers: () => unused, status: unused, pastClaims: unused }),
  ];
  return [...services, createHealth(createHealthBoard(services, new AbortController().signal))];
}

/** The page as it is to be. */
export function waysPage(): string {
  const rows = everyService().flatMap(({ descriptor, hotMethods }) =>
    descriptor.methods.map((method) => {
      const found = hotMethods.find((hot) => hot.descriptor === method);
      const json = found?.hasPlainJson === true ? "yes" : "no";
      return `| ${descriptor.name} | ${method.name} | ${found?.kind ?? "general"} | ${json} |`;
    }),
  );
  return `${head}\n| service | method | way | JSON |\n| --- | --- | --- | --- |\n${rows.join("\n")}\n`;
}

if (import.meta.main) writeFileSync(waysFile, waysPage());
