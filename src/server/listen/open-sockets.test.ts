import { expect, test } from "vitest";
import { ManualTime } from "../../../test/support/worlds/manual-time.ts";
import { OpenSockets } from "./open-sockets.ts";

/** Sockets by name, such as `here 3`; the words before the number are the network. */
function open(countMax: number) {
  const time = new ManualTime();
  const closed: string[] = [];
  const sockets = new OpenSockets<ReturnType<typeof socket>>(countMax, time);
  const socket = (name: string) => ({ bytesRead: 0, bytesWritten: 0, destroy: () => closed.push(name) });
  const connect = (network: string, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const opened = socket(`${network} ${index}`);
      sockets.add(opened, network);
      return opened;
    });
  return { time, closed, sockets, connect };
}

test("near the limit of connections the network with the most makes room for the others (it held every one)", () => {
  const { closed, connect } = open(100);
  connect("crowd", 88);
  connect("neighbour", 2);
  expect(closed).toEqual([]);
  connect("newcomer", 3);
  expect(closed).toEqual(["crowd 0", "crowd 1", "crowd 2"]);
});

test("a connection that moves bytes outlasts those of its network that are idle, however old it is", async () => {
  const { time, closed, connect } = open(20);
  const crowd = connect("crowd", 17);
  for (let look = 0; look < 4; look++) {
    crowd[0]!.bytesRead += 100;
    crowd[1]!.bytesWritten += 100;
    await time.run(1_001);
    connect("newcomer", 1);
  }
  expect(closed).toEqual(["crowd 2", "crowd 3", "crowd 4"]);
});

test("a network that has most closes its own idle connections for its new ones, and none that is in use", async () => {
  const { time, closed, connect } = open(20);
  const [, ...busy] = connect("crowd", 18);
  await time.run(1_001);
  for (const socket of busy) socket.bytesRead++;
  connect("crowd", 2);
  expect(closed).toEqual(["crowd 0"]);
  connect("newcomer", 1);
  expect(closed).toEqual(["crowd 0", "crowd 1"]);
});

test("a connection that has closed makes room, and its network is forgotten with its last", () => {
  const { closed, sockets, connect } = open(10);
  for (let round = 0; round < 50; round++) {
    const [one] = connect(`network ${round}`, 1);
    if (round % 10 > 0) sockets.delete(one!, `network ${round}`);
    // Twice, like a socket that was closed here and then reports its end.
    sockets.delete(one!, `network ${round - 1}`);
  }
  expect(closed).toEqual([]);
  sockets.closeAll();
  expect(closed).toHaveLength(5);
});
