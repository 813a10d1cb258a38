/** Connections that have come of age, of both kinds of HTTP/2 and of HTTP/1.1. */
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { runServer } from "../support/processes/running-server.ts";

const path = "/snowlane.v1.IdService/NextId";
const headers = { "content-type": "application/json" };

/** Calls on one connection until that has closed; gives the statuses, and what was heard of the end. */
async function callUntilClosed(url: string) {
  const session = connect(url);
  const closed = once(session, "close");
  const goaways: number[] = [];
  session.on("goaway", (code: number) => goaways.push(code));
  const statuses: unknown[] = [];
  // A stream that is open when the time is over.
  const slow = session.request({ ":method": "POST", ":path": path, ...headers });
  while (!session.closed) {
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    stream.end("{}");
    // One that crosses the GOAWAY is refused, and may be sent again elsewhere.
    const ended = once(stream, "close").then(() => []);
    const [answered] = await Promise.race([once(stream, "response"), ended]).catch(() => []);
    if (answered !== undefined) statuses.push(answered[":status"]);
    stream.resume();
  }
  slow.end("{}");
  const [last] = await once(slow, "response");
  slow.resume();
  await closed;
  return { statuses, goaways, last: last[":status"] };
}

test.each(["engine", "node"])("HTTP/2 gets GOAWAY, and calls in flight come to their end: %s", async (http2) => {
  const { url, faults } = await runServer({ http2, connectionAge: "1s" });
  const { statuses, goaways, last } = await callUntilClosed(url);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(new Set(goaways)).toEqual(new Set([0]));
  expect(last).toBe(200);
  expect(faults).toEqual([]);
});

test("HTTP/1.1 is closed with the first response after its time", async () => {
  const { url } = await runServer({ connectionAge: "1s" });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const call = async () => {
    const asked = request(`${url}${path}`, { method: "POST", headers, agent });
    asked.end("{}");
    const [response] = await once(asked, "response");
    response.resume();
    await once(response, "end");
    expect(response.statusCode).toBe(200);
    return [response.headers.connection, asked.reusedSocket];
  };
  expect(await call()).toEqual(["keep-alive", false]);
  await expect.poll(call, { interval: 100 }).toEqual(["close", true]);
  expect(await call()).toEqual(["keep-alive", false]);
});
