import { DroppingLink } from "./dropping-link.ts";
import type { World } from "./world.ts";

const urlOf = ({ port }: { readonly port: number }): string => `http://127.0.0.1:${port}`;

/** A way to a server over which connections can go dark while new ones work. */
interface DarkWay {
  readonly url: string;
  readonly darken: () => Promise<unknown> | void;
}

/** What can make a connection dark: it is open, and answers nothing. */
const darkKinds = {
  /** A proxy that has lost its state takes bytes and passes none on. */
  swallowed: async (world: World): Promise<DarkWay> => {
    const link = await world.link(await world.server());
    return { url: urlOf(link), darken: () => link.swallow() };
  },
  /** The server freezes behind a balancer, which sends new connections to another one. */
  frozen: async (world: World): Promise<DarkWay> => {
    const [toFrozen, well] = [await world.link(await world.server()), await world.server()];
    const balancer = await world.linkTo(toFrozen.port);
    return {
      url: urlOf(balancer),
      darken: () => {
        toFrozen.mode = "black-hole";
        balancer.targetPort = Number(new URL(well.url).port);
      },
    };
  },
  /** The network drops every packet of the connection, acknowledgements, too. */
  dropped: async (world: World): Promise<DarkWay> => {
    const link = await DroppingLink.start(Number(new URL((await world.server()).url).port));
    world.onEnd(() => link.stop());
    return { url: urlOf(link), darken: () => link.drop() };
  },
} as const;

export type DarkKind = keyof typeof darkKinds;

/** How a client did over a connection that went dark. */
export interface DarkOutcome {
  readonly failures: number;
  /** The longest that a caller waited for an ID. */
  readonly waitMaxMs: number;
  readonly reasons: readonly string[];
}

/** Makes single calls over a connection that goes dark. */
export async function callInTheDark(world: World, kind: DarkKind): Promise<DarkOutcome> {
  const { url, darken } = await darkKinds[kind](world);
  const client = await world.open([url]);
  await client.call(3);
  await darken();
  const results = await client.call(3);
  const failed = results.filter(({ id }) => id === undefined);
  const waitMaxMs = Math.max(...results.map(({ durationMs }) => durationMs));
  return { failures: failed.length, waitMaxMs, reasons: failed.map(({ text = "" }) => text) };
}

/** Takes 200 IDs a second of a buffer whose connection goes dark. */
export async function takeInTheDark(world: World, kind: DarkKind): Promise<DarkOutcome> {
  const { url, darken } = await darkKinds[kind](world);
  const client = await world.open([url], { buffer: 1 });
  await client.take(200, 2);
  await darken();
  const { failures, waitMaxMs, reasons, count } = await client.take(200, 6);
  const isWhole = count + failures === 1_200;
  return { failures: failures + (isWhole ? 0 : 1), waitMaxMs, reasons: Object.keys(reasons) };
}
