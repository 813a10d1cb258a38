/** HPACK against nghttp2, an implementation of other hands: node:http2 has it inside. */
import { connect, type ClientHttp2Session } from "node:http2";
import { expect, test } from "vitest";
import { encodeFields } from "../../src/http2/hpack/encoder.ts";
import { describingHandler, startHttp2TestServer } from "../support/http2/http2-test-server.ts";
import { SeededRandom } from "../support/worlds/seeded-random.ts";

type Headers = Readonly<Record<string, string>>;

interface Answer {
  readonly headers: Headers;
  readonly body: string;
}

function ask(client: ClientHttp2Session, path: string, headers: Headers): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = client.request({ ":path": path, ...headers });
    let answer: Headers = {};
    let body = "";
    request.setEncoding("utf8");
    request.on("response", (received) => (answer = received as Headers));
    request.on("data", (text: string) => (body += text));
    request.on("end", () => resolve({ headers: answer, body }));
    request.on("error", reject);
  });
}

async function withClient(
  port: number,
  options: object,
  use: (client: ClientHttp2Session) => Promise<void>,
): Promise<void> {
  const client = connect(`http://127.0.0.1:${port}`, options);
  client.on("error", () => undefined);
  try {
    await use(client);
  } finally {
    client.destroy();
  }
}

function randomValue(random: SeededRandom): string {
  const length = random.oneIn(20) ? random.below(3_000) : random.below(120);
  const text = Array.from({ length }, () => (random.oneIn(15) ? 0x80 + random.below(0x80) : 0x21 + random.below(0x5e)));
  return Buffer.from(text).toString("latin1");
}

function randomHeaders(random: SeededRandom): Headers {
  const names = Array.from({ length: 1 + random.below(6) }, () => `x-${random.below(40)}`);
  return Object.fromEntries(names.map((name) => [name, randomValue(random)]));
}

test.each([
  { name: "nghttp2's default table", tableBytes: 4_096 },
  { name: "a table of 1,000 bytes", tableBytes: 1_000 },
  { name: "no table", tableBytes: 0 },
])(
  "what nghttp2 encodes with $name is decoded to the same fields, past 10,000 evictions on one connection",

  async ({ tableBytes }) => {
    const random = new SeededRandom(7);
    let insertedCount = 0;
    await using server = await startHttp2TestServer(describingHandler);
    await withClient(server.port, { maxDeflateDynamicTableSize: tableBytes }, async (client) => {
      for (let round = 0; round < 250; round++) {
        const requests = Array.from({ length: 20 }, () => ({
          path: `/${random.below(300)}`,
          headers: randomHeaders(random),
        }));
        const answers = await Promise.all(requests.map(({ path, headers }) => ask(client, path, headers)));
        for (const [index, { path, headers }] of requests.entries()) {
          const { body } = answers[index]!;
          const got = JSON.parse(body) as { readonly path: string; readonly fields: readonly [string, string][] };
          expect(got.path).toBe(path);
          expect(Object.fromEntries(got.fields.filter(([name]) => name.startsWith("x-")))).toEqual(headers);
          // Every value is fresh. nghttp2 keeps those that take up to three quarters of its table.
          insertedCount += Object.values(headers).filter((value) => value.length + 40 < tableBytes * 0.75).length;
        }
      }
    });
    expect(server.faults).toEqual([]);
    // An entry weighs at least 32 bytes: of those that went in, all but 128 went out again.
    if (tableBytes > 0) expect(insertedCount - 128).toBeGreaterThan(10_000);
  },
);

test("what our encoder writes is decoded by nghttp2 to the same fields", async () => {
  const random = new SeededRandom(11);
  const sent = new Map<string, Headers>();
  await using server = await startHttp2TestServer((stream) => {
    const status = String(200 + random.below(300));
    const headers = { ":status": status, ...randomHeaders(random) };
    sent.set(stream.head.path, headers);
    stream.respond(encodeFields(Object.entries(headers)), "end");
    return {};
  });
  await withClient(server.port, {}, async (client) => {
    for (let request = 0; request < 1_000; request++) {
      // The client lowers and raises its table now and then; our blocks must stay lawful.
      if (request % 50 === 0) client.settings({ headerTableSize: random.pick([0, 100, 4_096, 65_536]) });
      const { headers } = await ask(client, `/${request}`, {});
      // Through JSON: node adds a symbol and makes a number of the status.
      const received = JSON.parse(JSON.stringify(headers)) as Record<string, string | number>;
      expect({ ...received, ":status": `${received[":status"]}` }).toEqual(sent.get(`/${request}`));
    }
  });
});
