/** Attacks on an HTTP/2 server that are a flood of frames. */
import { frameFlag, frameType } from "../../../src/http2/frame.ts";
import {
  data,
  type FieldPairs,
  frame,
  headers,
  indexedBlock,
  ping,
  rawBlock,
  settings,
  settingsAck,
  uint32,
  windowUpdate,
} from "./http2-wire.ts";

/** The principal of {@link nextIdFields}. */
export const attackerName = "attacker";

/** A call of NextId over gRPC, with the token of a principal: an open server passes it over. */
export const nextIdFields: FieldPairs = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/snowlane.v1.IdService/NextId"],
  [":authority", "localhost"],
  ["content-type", "application/grpc"],
  ["te", "trailers"],
  ["authorization", `Bearer snw_token-of-${attackerName}`],
];

/** Frames of one kind, again and again, that have to end the connection. */
export interface Flood {
  readonly name: string;
  readonly first?: readonly Buffer[];
  /** The bytes of round `index`. */
  readonly round: (index: number) => Buffer;
  /** After how many rounds at most the connection must be over, if they all come in one moment. */
  readonly roundsMax: number;
  /** The error code of the GOAWAY. */
  readonly end: string;
}

const id = (index: number): number => 2 * index + 1;
/** A request that puts a field of 4 kB into the table, where one byte names it. */
export const bomb: Buffer = frame(
  frameType.headers,
  5,
  1,
  Buffer.concat([rawBlock(nextIdFields), indexedBlock([["x", "y".repeat(4_000)]])]),
);

/** Two size updates: none, and all that was agreed. */
const emptyAndRefill = Buffer.from([0x20, 0x3f, 0xe1, 0x1f]);
/** As many entries as a table has room for. */
const fullTable = indexedBlock(Array.from({ length: 120 }, (_, index) => [String.fromCharCode(97 + (index % 26)), ""]));

/** The floods that are known: those of the CVEs since 2019, and their kin. */
export const floods: readonly Flood[] = [
  {
    name: "resets that the server is made to send (CVE-2025-8671)",
    round: (index) => Buffer.concat([headers(id(index), "body", nextIdFields), windowUpdate(id(index), 0)]),
    roundsMax: 401,
    end: "enhanceYourCalm",
  },
  {
    name: "CONTINUATION flood of empty frames (CVE-2024-27316)",
    first: [frame(frameType.headers, 1, 1, rawBlock(nextIdFields))],
    round: () => frame(frameType.continuation, 0, 1),
    roundsMax: 9,
    end: "enhanceYourCalm",
  },
  {
    name: "CONTINUATION flood of full frames",
    first: [frame(frameType.headers, 1, 1, rawBlock(nextIdFields))],
    round: () => frame(frameType.continuation, 0, 1, Buffer.alloc(16_384, 0x82)),
    roundsMax: 4,
    end: "enhanceYourCalm",
  },
  {
    name: "HPACK bomb: 64 MB in 16 kB",
    first: [bomb],
    round: (index) => frame(frameType.headers, 5, id(index + 1), Buffer.alloc(16_000, 0xbe)),
    roundsMax: 1,
    end: "compressionError",
  },
  {
    name: "table size updates without end",
    round: (index) => frame(frameType.headers, 5, id(index), Buffer.alloc(16_384, 0x20)),
    roundsMax: 1,
    end: "compressionError",
  },
  {
    name: "a table that is emptied and filled again",
    round: (index) => frame(frameType.headers, 5, id(index), Buffer.concat([emptyAndRefill, fullTable])),
    roundsMax: 401,
    end: "enhanceYourCalm",
  },
  {
    name: "PING flood",
    round: () => Buffer.concat(Array.from({ length: 100 }, () => ping())),
    roundsMax: 401,
    end: "enhanceYourCalm",
  },
  {
    name: "SETTINGS flood that moves every window",
    round: (index) => settings([4, index % 2 === 0 ? 0 : 65_535]),
    roundsMax: 201,
    end: "enhanceYourCalm",
  },
  {
    name: "PRIORITY flood",
    round: () => frame(frameType.priority, 0, 1, Buffer.concat([uint32(0), Buffer.of(1)])),
    roundsMax: 4_001,
    end: "enhanceYourCalm",
  },
  {
    name: "flood of DATA without bytes",
    first: [headers(1, "body", nextIdFields)],
    round: () => data(1, 0),
    roundsMax: 4_001,
    end: "enhanceYourCalm",
  },
  {
    name: "a body in frames of one byte",
    first: [headers(1, "body", nextIdFields)],
    round: () => Buffer.concat(Array.from({ length: 100 }, () => data(1, 1))),
    roundsMax: 41,
    end: "enhanceYourCalm",
  },
  {
    name: "flood of acknowledged PINGs that nobody sent",
    round: () => ping("12345678", frameFlag.ack),
    roundsMax: 4_001,
    end: "enhanceYourCalm",
  },
  {
    name: "flood of acknowledged SETTINGS that nobody sent",
    round: () => settingsAck,
    roundsMax: 4_001,
    end: "enhanceYourCalm",
  },
  { name: "flood of unknown frames", round: () => frame(77, 0, 0), roundsMax: 4_001, end: "enhanceYourCalm" },
  // It had no rate.
  {
    name: "WINDOW_UPDATE flood",
    round: () => Buffer.concat(Array.from({ length: 100 }, () => windowUpdate(0, 1))),
    roundsMax: 1_001,
    end: "enhanceYourCalm",
  },
  {
    name: "window overflow",
    round: () => windowUpdate(0, 0x7fffffff),
    roundsMax: 1,
    end: "flowControlError",
  },
  {
    name: "fields without names and values (CVE-2019-9516)",
    round: (index) => frame(frameType.headers, 5, id(index), Buffer.alloc(1_500)),
    roundsMax: 401,
    end: "enhanceYourCalm",
  },
  {
    name: "a table larger than was agreed",
    round: (index) => frame(frameType.headers, 5, id(index), Buffer.from([0x3f, 0xe2, 0x1f, 0x82])),
    roundsMax: 1,
    end: "compressionError",
  },
  {
    name: "requests that break a rule",
    round: (index) => headers(id(index), "end", [...nextIdFields, ["connection", "close"]]),
    roundsMax: 401,
    end: "enhanceYourCalm",
  },
];
