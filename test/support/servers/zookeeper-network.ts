import { TcpProxy } from "../processes/tcp-proxy.ts";

/** A way by which one member of an ensemble reaches another. */
export interface MemberLink {
  readonly from: number;
  readonly to: number;
  /** Where the other listens. */
  readonly port: number;
  /** What it listens for: followers, or votes. */
  readonly use: "quorum" | "election";
}

/** The network between the members of a ZooKeeper ensemble: each member reaches each other by proxies of its own. */
export class ZooKeeperNetwork {
  readonly #ways: { readonly ends: readonly number[]; readonly proxy: TcpProxy }[] = [];

  /** Lays a way; the port is what `from` is to take for `to`'s. */
  async lay({ from, to, port, use }: MemberLink): Promise<number> {
    const proxy = await TcpProxy.start(port);
    if (use === "election") proxy.greeting = withoutAddress;
    this.#ways.push({ ends: [from, to], proxy });
    return proxy.port;
  }

  /** The ways between a member and another, both directions, for data and for votes; to both others without one. */
  waysOf(member: number, other?: number): readonly TcpProxy[] {
    const isOf = (ends: readonly number[]): boolean =>
      ends.includes(member) && (other === undefined || ends.includes(other));
    return this.#ways.filter(({ ends }) => isOf(ends)).map(({ proxy }) => proxy);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#ways.map(({ proxy }) => proxy.stop()));
  }
}

/**
 * The first message of a vote's connection names the sender and its address. A member with a greater number hangs up
 * and connects to that address, past every proxy. In the older form, the number alone, it names no address, and the
 * greater one takes the address of its own configuration: `InitialMessage` and `receiveConnection` of
 * {@link https://github.com/apache/zookeeper/blob/branch-3.8/zookeeper-server/src/main/java/org/apache/zookeeper/server/quorum/QuorumCnxManager.java}
 */
function withoutAddress(bytes: Buffer): Buffer {
  const headBytes = 20;
  if (bytes.length < headBytes || bytes.readBigInt64BE(0) >= 0n) return bytes;
  const addressBytes = bytes.readInt32BE(16);
  return Buffer.concat([bytes.subarray(8, 16), bytes.subarray(headBytes + addressBytes)]);
}
