/** A path is compared as it was sent: what a proxy admits by its prefix is what the server serves. */
import { describe, expect, test } from "vitest";
import { askHttp1, askHttp2, grpcFrame, sendBytes } from "../support/http2/http-call.ts";
import { runServer } from "../support/processes/running-server.ts";

const ids = "/snowlane.v1.IdService";
const admin = "/snowlane.v1.AdminService/ListWorkers";

const detours = [
  `${ids}/..${admin}`,
  `${ids}/%2e%2e${admin}`,
  `${ids}/.%2E${admin}`,
  `${ids}\\..${admin.replaceAll("/", "\\")}`,
  `${ids}/..\\${admin.slice(1)}`,
  `/.${admin}`,
  `/${admin}`,
  `${admin}/`,
  `${admin}/.`,
  `/snowlane.v1.%41dminService/ListWorkers`,
];

describe.each([
  ["HTTP/1.1", askHttp1],
  ["HTTP/2", askHttp2],
])("over %s", (_name, ask) => {
  test("a path with dot segments is 404 (it reached a service that a proxy's prefix rule kept from the caller)", async () => {
    const { url, faults } = await runServer();
    expect((await ask(url, { path: admin, body: "{}" })).status).toBe(200);
    expect((await ask(url, { path: `${admin}?a`, body: "{}" })).status).toBe(200);
    for (const path of detours) expect([path, (await ask(url, { path, body: "{}" })).status]).toEqual([path, 404]);
    expect(faults).toEqual([]);
  });
});

test("a gRPC call of a path with dot segments is UNIMPLEMENTED, and the message shows the path as it was sent", async () => {
  const { url } = await runServer();
  const headers = { "content-type": "application/grpc", te: "trailers" };
  const body = grpcFrame(new Uint8Array(0));
  for (const path of [...detours, "/caf\u00e9"]) {
    const answer = await askHttp2(url, { path, headers, body });
    expect([path, answer.headers["grpc-status"]]).toEqual([path, "12"]);
    expect(decodeURIComponent(String(answer.headers["grpc-message"]))).toContain("There is no method /");
  }
});

test("an HTTP/1.1 request with a target in absolute form is answered by its path (it was refused with 400)", async () => {
  const { address, url } = await runServer({ hosts: "any" });
  const ask = (target: string): Promise<string> =>
    sendBytes(address, [
      `POST ${target} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
    ]);
  expect(await ask(`${url}${admin}`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await ask(`http://somewhere.else${ids}/NextId`)).toMatch(/^HTTP\/1\.1 200 /);
  for (const path of detours)
    expect([path, await ask(url + path)]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 404 /)]);
  // Only HTTP/1.1 has it: a proxy compares the path of HTTP/2 with its rules as it is.
  expect((await askHttp2(url, { path: url + admin, body: "{}" }).catch(() => ({ status: 400 }))).status).not.toBe(200);
});
