import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { askHttp1, askHttp2, type HttpAnswer, sendBytes } from "../support/http2/http-call.ts";
import { runServer } from "../support/processes/running-server.ts";
import { bundleServer } from "../support/processes/server-bundle.ts";
import { startSnowlane } from "../support/processes/snowlane-process.ts";

/** The page's files as HTTP shows them, whatever carries them. */

interface PageFile {
  readonly file: string;
  readonly type: string;
  readonly sizes: Readonly<Record<"identity" | "br" | "gzip", number>>;
}

let manifest: Readonly<Record<string, PageFile>>;

beforeAll(async () => {
  await bundleServer();
  manifest = JSON.parse(readFileSync("dist/page/manifest.json", "utf8"));
});

const policy =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types lit-html snowlane-worker";

const protocols = [
  ["HTTP/1.1", askHttp1, "node"],
  ["HTTP/2 of Node", askHttp2, "node"],
  ["HTTP/2 of the engine", askHttp2, "engine"],
] as const;

describe.each(protocols)("over %s", (_name, ask, http2) => {
  /** Starts a server, and gives the function that asks it. */
  const serve = async () => {
    const { url, faults } = await runServer({ http2 });
    onTestFinished(() => expect(faults).toEqual([]));
    return (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<HttpAnswer> =>
      ask(url, { path, method, headers });
  };

  test("every file comes whole, with its type, in every encoding", async () => {
    const { url } = await runServer({ http2 });
    expect(Object.keys(manifest).length).toBeGreaterThan(4);
    for (const [path, { file, type, sizes }] of Object.entries(manifest)) {
      const content = readFileSync(`dist/page/${file}`);
      for (const [accepted, decode] of [
        ["br, gzip", brotliDecompressSync],
        ["gzip", gunzipSync],
        ["", (bytes: Buffer) => bytes],
      ] as const) {
        const { status, headers, body } = await ask(url, {
          path,
          method: "GET",
          headers: { "accept-encoding": accepted },
        });
        expect([path, status, headers["content-type"]]).toEqual([path, 200, type]);
        expect(headers["content-length"]).toBe(String(body.length));
        expect(decode(body).equals(content)).toBe(true);
        const encoding = accepted === "" ? "identity" : accepted === "gzip" ? "gzip" : "br";
        expect([headers["content-encoding"] ?? "identity", body.length]).toEqual([encoding, sizes[encoding]]);
      }
    }
  });

  test("the page is asked for again each time, its assets are kept for ever", async () => {
    const get = await serve();
    const others = ["/", "/openapi.json", "/favicon.ico"];
    const assets = Object.keys(manifest).filter((path) => !others.includes(path));
    for (const path of others) expect([path, (await get(path)).headers["cache-control"]]).toEqual([path, "no-cache"]);
    for (const path of assets) {
      expect(path).toMatch(/^\/assets\/[a-z]+-[\w-]{8,12}\.(js|css|svg|txt)$/);
      expect((await get(path)).headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    }
  });

  test("a copy that is still right is answered by 304 without a body, and each encoding has its own tag", async () => {
    const get = await serve();
    const { headers } = await get("/", { "accept-encoding": "br" });
    const tag = String(headers.etag);
    const plain = String((await get("/")).headers.etag);
    expect(plain).not.toBe(tag);
    for (const [names, status] of [
      [tag, 304],
      [`"x", W/${tag}`, 304],
      ["*", 304],
      [plain, 200],
      ['"x"', 200],
    ] as const) {
      const answer = await get("/", { "accept-encoding": "br", "if-none-match": names });
      expect([names, answer.status]).toEqual([names, status]);
      if (status === 304) expect([answer.body.length, answer.headers.etag]).toEqual([0, tag]);
    }
  });

  test("HEAD has the headers of GET and no body", async () => {
    const get = await serve();
    const asked = await get("/", { "accept-encoding": "br" });
    const head = await get("/", { "accept-encoding": "br" }, "HEAD");
    expect([head.status, head.body.length]).toEqual([200, 0]);
    for (const name of ["content-length", "content-type", "content-encoding", "etag", "cache-control"]) {
      expect([name, head.headers[name]]).toEqual([name, asked.headers[name]]);
    }
  });

  test("every answer has the policy of the page, refusals included", async () => {
    const get = await serve();
    for (const [path, method, status] of [
      ["/", "GET", 200],
      ["/", "HEAD", 200],
      ["/nothing", "GET", 404],
      ["/", "POST", 405],
    ] as const) {
      const { status: said, headers } = await get(path, { "sec-fetch-site": "none" }, method);
      expect([path, method, said]).toEqual([path, method, status]);
      expect(headers["content-security-policy"]).toBe(policy);
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(headers["referrer-policy"]).toBe("no-referrer");
      expect(headers["cross-origin-opener-policy"]).toBe("same-origin");
      expect(headers["cross-origin-resource-policy"]).toBe("same-origin");
      expect(headers["access-control-allow-origin"]).toBeUndefined();
      // Only a trustworthy origin gets the field that asks for it; elsewhere Chromium calls the policy an error.
      const elsewhere = (await get(path, {}, method)).headers;
      expect(elsewhere).toMatchObject({ "content-security-policy": policy, "referrer-policy": "no-referrer" });
      expect(elsewhere["cross-origin-opener-policy"]).toBeUndefined();
    }
  });

  test("no other path leads to a file: traversal, encodings, folders and the manifest are 404", async () => {
    const { url, faults } = await runServer({ http2 });
    const paths = [
      "/index.html",
      "/manifest.json",
      "/assets",
      "/assets/",
      "/../dist/page/index.html",
      "/assets/../index.html",
      "/assets/..%2findex.html",
      "/%2e%2e/%2e%2e/package.json",
      "/assets/%00",
      "//",
      "/./",
      "/__proto__",
      "/constructor",
      `/${"a".repeat(2_000)}`,
    ];
    for (const path of paths) {
      const { status, headers, body } = await ask(url, { path, method: "GET", headers: {} });
      expect([path, status, headers["content-type"]]).toEqual([path, 404, "text/plain; charset=utf-8"]);
      expect(body.toString()).toMatch(/^There is no such page or method\. Try .*\n$/);
    }
    expect((await ask(url, { path: "/?a=b", method: "GET", headers: {} })).status).toBe(200);
    expect(faults).toEqual([]);
  });

  test("other methods are 405 at the page's paths, and elsewhere 404 as before", async () => {
    const get = await serve();
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const { status, headers } = await get("/", {}, method);
      expect([method, status, headers.allow]).toEqual([method, 405, "GET, HEAD"]);
    }
    expect((await get("/nothing", {}, "POST")).status).toBe(404);
    // A method of the service keeps its own answer.
    expect((await get("/snowlane.v1.IdService/NextId")).status).toBe(405);
  });

  test("a range is not served: the whole comes", async () => {
    const get = await serve();
    const { status, headers, body } = await get("/", { range: "bytes=0-9" });
    expect([status, headers["accept-ranges"], body.length]).toEqual([200, undefined, manifest["/"]!.sizes.identity]);
  });

  test("without the page, its paths are as unknown as any", async () => {
    const { url } = await runServer({ http2, page: "off" });
    for (const path of ["/", "/nothing", Object.keys(manifest)[0]!]) {
      const { status, headers, body } = await ask(url, { path, method: "GET", headers: {} });
      expect([status, headers["content-security-policy"]]).toEqual([404, undefined]);
      expect(body.toString()).toMatch(/^There is no such page or method\. Try .*\n$/);
    }
  });
});

test("accept-encoding is honoured in every form", async () => {
  const { url } = await runServer();
  const chosen = async (accepted: string): Promise<string> => {
    const { headers } = await askHttp1(url, {
      path: "/",
      method: "GET",
      headers: { "accept-encoding": accepted },
    });
    expect(headers.vary).toBe("accept-encoding");
    return headers["content-encoding"] ?? "identity";
  };
  for (const [accepted, encoding] of [
    ["gzip, deflate, br, zstd", "br"],
    ["BR", "br"],
    ["*", "br"],
    ["br;q=0, *", "gzip"],
    ["br;q=0.5, gzip;q=0.8", "gzip"],
    ["br; q=0.8 , gzip;q=0.8", "br"],
    ["gzip;q=0, br;q=0", "identity"],
    ["gzip;q=0.5, identity;q=0.9", "identity"],
    ["identity;q=0", "identity"],
    ["*;q=0", "identity"],
    ["zstd", "identity"],
    ["br;q=nonsense", "identity"],
    [";;,,q=1", "identity"],
    ["x".repeat(4_000), "identity"],
  ] as const) {
    expect([accepted, await chosen(accepted)]).toEqual([accepted, encoding]);
  }
});

test("a request that names a file in absolute form, as through a proxy, gets it", async () => {
  const { address } = await runServer();
  const answer = await sendBytes(address, [
    `GET http://${address}/ HTTP/1.1\r\nhost: ${address}\r\nconnection: close\r\n\r\n`,
  ]);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});

test("a gRPC call of the page's path is a call", async () => {
  const { url } = await runServer();
  const headers = { "content-type": "application/grpc", te: "trailers" };
  const { status, headers: answered } = await askHttp2(url, { path: "/", headers, body: Buffer.alloc(5) });
  expect([status, answered["grpc-status"]]).toEqual([200, "12"]);
});

test("the code of the page's files is loaded with the first request for one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-page-files-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, "dist");
  cpSync("dist", program, { recursive: true });
  const chunks = readdirSync(join(program, "chunks")).filter((name) => name.startsWith("page-files"));
  expect(chunks).toHaveLength(1);
  const away = [...chunks.map((name) => join("chunks", name)), "page"];
  for (const [index, name] of away.entries()) renameSync(join(program, name), join(folder, String(index)));
  const server = await startSnowlane({
    args: ["--store", `sqlite:${join(folder, "ids.db")}`],
    program: [process.execPath, join(program, "main.js")],
  });
  onTestFinished(async () => void (await server.stop("SIGTERM")));
  const called = await fetch(`${server.url}/snowlane.v1.IdService/NextId`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  expect(called.status).toBe(200);
  for (const [index, name] of away.entries()) renameSync(join(folder, String(index)), join(program, name));
  expect((await fetch(`${server.url}/`)).status).toBe(200);
});

test("the first load is at most 50 kB by brotli, the calls 36, the charts 22, the proof 45, a language 10 and 4, Learn 10, the finder 10, the list 6, what was found 4, the code 4", () => {
  const sizeOf = (pattern: RegExp): number => {
    const found = Object.entries(manifest).filter(([path]) => pattern.test(path));
    expect(found.length).toBeGreaterThan(0);
    return found.reduce((sum, [, { sizes }]) => sum + sizes.br, 0);
  };
  // A chunk without a name of its own here counts as the first load.
  const later = "openapi|favicon|assets/(server|charts|learn|proof|simulation|safety|code|zh|sw|finder|found|list)-";
  expect(sizeOf(new RegExp(`^/(?!${later})`))).toBeLessThanOrEqual(50_000);
  expect(sizeOf(/^\/assets\/server-/)).toBeLessThanOrEqual(36_000);
  expect(sizeOf(/^\/assets\/charts-/)).toBeLessThanOrEqual(22_000);
  expect(sizeOf(/^\/assets\/(proof|simulation)-(?!(en|zh|sw)-)/)).toBeLessThanOrEqual(45_000);
  expect(sizeOf(/^\/assets\/learn-/)).toBeLessThanOrEqual(10_000);
  expect(sizeOf(/^\/assets\/finder-/)).toBeLessThanOrEqual(10_000);
  expect(sizeOf(/^\/assets\/code-/)).toBeLessThanOrEqual(4_000);
  expect(sizeOf(/^\/assets\/list-/)).toBeLessThanOrEqual(6_000);
  expect(sizeOf(/^\/assets\/found-/)).toBeLessThanOrEqual(4_000);
  for (const language of [/^\/assets\/zh-/, /^\/assets\/sw-/]) expect(sizeOf(language)).toBeLessThanOrEqual(10_000);
  for (const language of ["en", "zh", "sw"])
    expect(sizeOf(new RegExp(`^/assets/proof-${language}-`))).toBeLessThanOrEqual(4_000);
});
