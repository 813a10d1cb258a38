import { expect, test } from "vitest";
import { createNodeClient } from "./node.ts";
import { createTextCodec, presetLayout } from "./offline.ts";
import { createWebClient } from "./web.ts";

test("an option that nobody knows is refused, with the one that was meant", () => {
  expect(() => createNodeClient({ timoutMs: 5 } as never)).toThrow(
    "There is no option timoutMs. Did you mean timeoutMs?",
  );
  expect(() => createWebClient({ endpoints: ["http://a"], tls: {} } as never)).toThrow("There is no option tls.");
  const client = createNodeClient({ tls: {} });
  expect(() => client.prefetch({ outgeMs: 600_000 } as never)).toThrow("Did you mean outageMs?");
  client.prefetch({ outageMs: 600_000 });
  client.close();
});

test("unknown options of a stream and of reading a text are refused, too", async () => {
  const client = createNodeClient({ layout: presetLayout("twitter") });
  const streams = [
    client.stream(1, { chunkSiz: 5 } as never),
    client.sequence("a").stream(1, { orderd: true } as never),
  ];
  for (const stream of streams) await expect(stream.next()).rejects.toThrow(/Did you mean (chunkSize|ordered)\?/);
  await expect(client.parse("7", { frm: "decimal" } as never)).rejects.toThrow("Did you mean form?");
  const codec = createTextCodec(presetLayout("twitter"));
  expect(() => codec.read("7", { typeprefix: "order" } as never)).toThrow("Did you mean typePrefix?");
  expect(codec.read("1541815603606036480", { form: "decimal" }).id).toBe(1541815603606036480n);
  client.close();
});

test("options that are not an object are refused", () => {
  for (const options of ["http://127.0.0.1:7609", ["http://127.0.0.1:7609"], null, 7])
    expect(() => createNodeClient(options as never)).toThrow(TypeError);
});
