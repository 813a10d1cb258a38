import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLayout } from "../../src/snowflake/layout.ts";
import { GrantPieces, type LoggedGrant, readFirstIds } from "../support/worlds/grant-pieces.ts";

/** The checker of the checker: what it must find, and what it must leave alone. */

const layout = createLayout({
  name: "custom",
  epochMs: 0,
  tickNs: 1_000_000,
  fields: [
    { kind: "timestamp", bits: 41 },
    { kind: "worker", bits: 10 },
    { kind: "sequence", bits: 12 },
  ],
});

function grant(instance: string, generation: number, fromMs: number, untilMs: number): LoggedGrant {
  return {
    owner: `1 of ${instance}`,
    life: 1,
    instance,
    how: "acquired",
    workerId: 7,
    generation,
    fromMs,
    untilMs,
    atMs: fromMs,
  };
}

function piecesOf(...grants: readonly LoggedGrant[]): GrantPieces {
  const pieces = new GrantPieces(layout);
  for (const each of grants) pieces.granted(each);
  return pieces;
}

/** The ID of worker ID 7 at a time. */
const idAt = (timeMs: number): bigint => (BigInt(timeMs) << 22n) | (7n << 12n);

/** Reads an issue log with one ID at each time, of worker ID 7. */
function issuedAt(...timesMs: readonly number[]): Iterable<bigint> {
  const folder = mkdtempSync(join(tmpdir(), "snowlane-pieces-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const bytes = Buffer.alloc(16 * timesMs.length);
  for (const [index, timeMs] of timesMs.entries()) {
    bytes.writeBigUInt64BE(idAt(timeMs), index * 16);
    bytes.writeUInt32BE(1, index * 16 + 8);
  }
  const path = join(folder, "issued.log");
  writeFileSync(path, bytes);
  return readFirstIds(path);
}

test("an ID in the piece of the next grant is found, though nobody issued it again; so is one before every grant", () => {
  const pieces = piecesOf(grant("a", 1, 100, 200), grant("b", 2, 200, 300));
  expect(pieces.findStray("1 of a", issuedAt(100, 150, 199))).toBeUndefined();
  expect(pieces.findStray("1 of b", issuedAt(200, 299, 900))).toBeUndefined();
  expect(pieces.findStray("1 of a", issuedAt(100, 200))).toContain("in the piece of 1 of b");
  expect(pieces.findStray("1 of a", issuedAt(99))).toContain("before every grant");
});

test("a grant that begins below the mark of the one before is found, unless that one was given back or goes on", () => {
  const [before, after] = [grant("a", 1, 100, 200), grant("b", 2, 150, 300)];
  expect(piecesOf(before, after).findLowStarts()).toEqual([expect.stringContaining("begins below the mark 200")]);

  const released = piecesOf(before, after);
  released.released("1 of a", 7);
  const stopped = piecesOf(before, after);
  stopped.stopped("1 of a");
  const resumed = piecesOf(before, { ...grant("a", 1, 150, 200), owner: "2 of a", how: "resumed" });
  expect([released, stopped, resumed].map((pieces) => pieces.findLowStarts())).toEqual([[], [], []]);
});

test("a grant after a loss that begins below an earlier mark is found; a grant's own mark is not held against it", () => {
  const pieces = piecesOf(grant("a", 1, 100, 200));
  pieces.saw({ workerId: 7, markMs: 260, isBefore: ({ atMs }) => atMs > 150 });
  pieces.granted(grant("b", 1, 240, 340));
  expect(pieces.findLowStarts()).toEqual([expect.stringContaining("begins below the mark 260")]);

  const own = piecesOf(grant("a", 1, 100, 200));
  own.saw({ workerId: 7, markMs: 200, isBefore: ({ atMs }) => atMs > 99 });
  expect(own.findLowStarts()).toEqual([]);
});

test("a takeover is a worker ID that went to another process that did not get it from its holder's hands", () => {
  const grants = [grant("a", 1, 100, 200), grant("b", 2, 200, 300), grant("b", 3, 300, 400), grant("a", 4, 400, 500)];
  const pieces = piecesOf(...grants);
  expect(pieces.countTakeovers()).toBe(2);
  pieces.released("1 of b", 7);
  expect(pieces.countTakeovers()).toBe(1);
});

test("a claim of the past is a grant that ends: its IDs lie in it, and what is granted or claimed later begins at its end", () => {
  const claim = { ...grant("claim", 2, 200, 300), owner: "claim", how: "claimed" } as const;
  const pieces = piecesOf(grant("a", 1, 100, 200), claim, grant("b", 3, 400, 500));
  expect(pieces.findStray("claim", [200, 299].map(idAt))).toBeUndefined();
  expect(pieces.findStray("claim", [299, 300].map(idAt))).toContain("after the piece of claim");
  expect(pieces.findStray("claim", [199].map(idAt))).toContain("in the piece of 1 of a");
  expect(pieces.findStray("1 of a", issuedAt(199, 200))).toContain("in the piece of claim");
  expect([pieces.findLowStarts(), pieces.countTakeovers()]).toEqual([[], 0]);
  // Without a raised mark the next grant begins within the claim; without a comparison the claim begins too low.
  const within = grant("b", 3, 299, 500);
  expect(piecesOf(claim, within).findLowStarts()).toEqual([
    expect.stringContaining("begins below the mark 300 of claim"),
  ]);
  expect(piecesOf(grant("a", 1, 100, 201), claim).findLowStarts()).toEqual([expect.stringMatching(/^claim .* below/)]);
  const again = { ...claim, owner: "again", fromMs: 250, untilMs: 300 };
  expect(piecesOf(claim, again).findLowStarts()).toEqual([
    expect.stringMatching(/^again .* below the mark 300 of claim/),
  ]);
});
