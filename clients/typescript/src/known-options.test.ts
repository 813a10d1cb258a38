import { expect, test } from "vitest";
import { FakeIdClient } from "./fake-id-client.ts";
import { createNodeClient } from "./node.ts";
import { createTextCodec, presetLayout } from "./offline.ts";
import { PrefetchBuffer } from "./prefetch-buffer.ts";
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

test.each([
  [{ insecureToken: "yes" }, "insecureToken must be true or false."],
  [{ observer: 5 }, "observer must be an object"],
  [{ logger: { warn: () => {} } }, "logger must be an object with info, warn and error, such as console."],
  [{ interceptors: [5] }, "interceptors must be an array of functions."],
  [{ layout: { name: "twitter" } }, 'layout must be a layout, such as presetLayout("twitter").'],
  [{ namespace: 5 }, "namespace must be a string."],
  [{ clock: {} }, "clock must be an object with the methods of Clock."],
  [{ random: 0.5 }, "random must be a function."],
  [{ tls: "ca.pem" }, "The options must be an object, such as { ca: ... }."],
  [{ tls: { caFile: "ca.pem" } }, "There is no option caFile."],
  [{ tls: { ca: 5 } }, "ca must be PEM."],
])("%o is refused when the client is made", (options, text) => {
  expect(() => createNodeClient(options as never)).toThrow(text);
});

test("options that are undefined keep their defaults", () => {
  const nothing = {
    tls: undefined,
    observer: undefined,
    clock: undefined,
    layout: undefined,
    insecureToken: undefined,
  };
  createNodeClient(nothing as never).close();
});

test("certificates that a function gives are held to the same", async () => {
  const client = createNodeClient({ endpoints: ["https://127.0.0.1:1"], tls: () => ({ caFile: "ca.pem" }) as never });
  await expect(client.nextId()).rejects.toThrow("There is no option caFile.");
  client.close();
});

const node = createNodeClient({ endpoints: ["http://127.0.0.1:1"] });
const fake = new FakeIdClient([], { sequences: { a: [] } });

test.each([
  ["a client", node],
  ["the fake", fake],
])("options of calls of %s are held to their names and kinds, before anything is sent", async (_, client) => {
  const buffer = client.prefetch();
  const sequence = client.sequence("a");
  const calls = [
    (options: never) => client.nextId(options),
    (options: never) => client.nextIds(1, options),
    (options: never) => client.reserve(1, options),
    async (options: never) => buffer.nextId(options),
    (options: never) => buffer.nextIds(1, options),
    (options: never) => buffer.ready(options),
    (options: never) => sequence.nextValue(options),
    (options: never) => sequence.nextText(options),
    (options: never) => sequence.nextValues(1, options),
    (options: never) => sequence.reserve(1, options),
    (options: never) => client.stream(1, options).next(),
    (options: never) => sequence.stream(1, options).next(),
  ];
  const wrong: readonly (readonly [options: unknown, text: string])[] = [
    [{ timeoutMS: 5 }, "There is no option timeoutMS. Did you mean timeoutMs?"],
    [{ timeoutMs: "5" }, "timeoutMs must be a number of milliseconds."],
    [{ signal: 5 }, "signal must be an AbortSignal."],
    [5, "The options must be an object"],
  ];
  for (const [index, call] of calls.entries()) {
    for (const [options, text] of wrong)
      await expect(call(options as never), `${index}`).rejects.toThrow(
        expect.objectContaining({ name: "TypeError", message: expect.stringContaining(text) }),
      );
  }
  await expect(sequence.nextValue({ forTime: "2026-11-28" } as never)).rejects.toThrow("forTime must be a valid Date.");
  expect(() => client.prefetch({ outgeMs: 600_000 } as never)).toThrow("Did you mean outageMs?");
  client.close();
});

test("options of a buffer over a custom source are held to their names", () => {
  expect(() => new PrefetchBuffer(fake, { outgeMs: 600_000 } as never)).toThrow("Did you mean outageMs?");
});
