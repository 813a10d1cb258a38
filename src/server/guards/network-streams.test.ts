import type { ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import type { GuardedCall } from "../call/call-guard.ts";
import { traitsOf } from "../call/method-table.ts";
import { NetworkStreams } from "./network-streams.ts";

const traits = traitsOf("/grpc.health.v1.Health/Watch");
const watchFrom = (network: string) => ({ traits, peer: { network } }) as unknown as GuardedCall;

function refusalOf(streams: NetworkStreams, call: GuardedCall): unknown {
  try {
    streams.open(call);
  } catch (error) {
    return error;
  }
  return "open";
}

test("calls that are refused for one cause share their error, and others have their own", () => {
  const streams = new NetworkStreams(12);
  const [one, other] = [watchFrom("192.0.2.1"), watchFrom("192.0.2.2")];
  for (let count = 0; count < 10; count += 1) {
    expect([refusalOf(streams, one), refusalOf(streams, other)]).toEqual(["open", "open"]);
  }
  const refused = refusalOf(streams, one) as ConnectError;
  expect(refused.rawMessage).toContain("10 of its connection");
  expect(refusalOf(streams, one)).toBe(refused);
  const ofOther = refusalOf(streams, other);
  expect(ofOther).not.toBe(refused);
  expect(refusalOf(streams, other)).toBe(ofOther);
  for (let count = 0; count < 2; count += 1) expect(refusalOf(streams, watchFrom("192.0.2.1"))).toBe("open");
  const ofNetwork = refusalOf(streams, watchFrom("192.0.2.1")) as ConnectError;
  expect(ofNetwork.rawMessage).toContain("12 of its network");
});
