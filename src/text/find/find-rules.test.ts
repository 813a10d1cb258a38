import { describe, expect, test } from "vitest";
import { layouts } from "../../snowflake/presets.ts";
import { createTextCodec } from "../text-codec.ts";
import { findIds } from "./find-ids.ts";

const nowMs = Date.UTC(2026, 10, 27);
const id = "1541815603606036480";

function found(text: string, layout = layouts.twitter): readonly string[] {
  const { finds } = findIds(text, { nowMs, codec: createTextCodec({ layout, namespace: "" }) });
  return finds.map(({ start, end }) => text.slice(start, end));
}

function foundTimes(text: string): readonly string[] {
  const { times } = findIds(text, { nowMs, codec: createTextCodec({ layout: layouts.twitter, namespace: "" }) });
  return times.map(({ start, end }) => text.slice(start, end));
}

/**
 * Each row has a text that its rule refuses, and a control that is found. The control differs only in what the rule
 * looks at, so it fails if another rule, or none, refused the first text.
 */
describe.each([
  ["N1: a fraction is not an ID", `0.${id}`, `0 ${id}`],
  ["N1: digits with a plus before them are not an ID", `+${id}`, ` ${id}`],
  ["N1: digits with a fraction behind them are not an ID", `${id}.25`, `${id}.0`],
  ["N2: nanoseconds at the end of a line of InfluxDB are a time", `cpu,host=a v=1 ${id}`, `cpu,host=a v=1 ${id} x`],
  ["N2: a key of time makes nanoseconds a time", `time=${id}`, `item=${id}`],
  ["N3: a byte count is not an ID", `rx_bytes=${id}`, `rx_order=${id}`],
  ["N3: a unit behind the digits makes them a quantity", `${id} ns`, `${id} nslookup`],
  ["N3: a trace ID is not an ID, though its key ends in id", `trace_id=${id}`, `trade_id=${id}`],
  ["N3: a tracking number is not an ID", `tracking number: ${id}`, `order number: ${id}`],
  ["N4: short padded digits are not an ID", "0000000012345678", `0000000${id}`],
  ["N6: a constant of a generator is not an ID", "1442695040888963407", "1442695040888963408"],
  ["N6: a limit in a control group is not an ID", "2305843009213693951", "2205843009213693951"],
  ["N7: digits that begin with a date are not an ID", "202206281607401055", "202299281607401055"],
  ["N7: a date is an ID by its key", "at 202206281607401055", "id 202206281607401055"],
  ["N8: an identity number is not an ID", "110101199003074578", "110101199013074578"],
  ["N10: 16 digits in a sentence are not an ID", "saw 3415818156036060 there", "order 3415818156036060 there"],
  ["N11: a number that no scheme can have made is not an ID", "4611686018427387905", "1611686018427387905"],
  [
    "grouped digits in a row of numbers are not an ID",
    "100 200 300 400 500 600\n110 210 310 410 510 610",
    "1 541 815 603 606 036 480",
  ],
  ["hexadecimal digits below 10^16 are an address", "at 0x7ffd5e8c3a10b", "at 0x1565a11f6217a02a"],
  [
    "32 hexadecimal digits are a UUID by their key alone",
    "md5 9e107d9d372bb6826bd81d3542a419d6",
    "uuid 9e107d9d372bb6826bd81d3542a419d6",
  ],
  ["N6: a product is not an ID", `7 * 1541815603606036481 = `, `7 at 1541815603606036481 = `],
  ["N6: a result of arithmetic is not an ID", `3 * 5 = ${id}`, `3 of 5: ${id}`],
  ["N6: a factorial is not an ID", "2432902008176640000", "2432902008176640123"],
  ["N6: a number of Fibonacci's row is not an ID", "1100087778366101931", "1100087778366101932"],
  ["N6: a power of a whole number is not an ID", "1350851717672992089", "1350851717672992090"],
  ["N6: digits of pi are not an ID", "314159265358979323", "314159265458979323"],
  ["N6: the first digits of a bound are not an ID", "1844674407370955161", "1844674507370955161"],
  ["N6: digits that repeat are not an ID", "142857142857142857", "142857142857142858"],
  ["N6: what the text calls by another name is not an ID", `${id} is a prime`, `${id} is a primer`],
  ["N6: what a function of hashing gave is not an ID", `hash("a") -> ${id}`, `order("a") -> ${id}`],
  ["N6: what a sentence calls a hash is not an ID", `the hash of x is ${id}`, `the order of x is ${id}`],
  ["N3: a word of quantity keeps its meaning over the next word", `bytes sent ${id}`, `letters sent ${id}`],
  ["N3: a key of other letters than Latin is read", `电话 ${id}`, `订单 ${id}`],
  ["N1: what follows an identifier of GS1 is not an ID", `(00)${id}`, `(00) ${id}`],
  ["N2: a count of 100 ns since 1601 that ends up now is not an ID", "134402500001234567", "134902500001234567"],
  ["N2: nanoseconds of now are a time", "1795737600123456789", "1785737600123456789"],
  ["a mask is not a hexadecimal ID", "0x1122334455667788", "0x1122334455667789"],
  ["eight letters are not a hexadecimal ID", "0x416c6c4361706974", "0x016c6c4361706974"],
  [
    "grouped digits that are a quantity are not an ID",
    "1,541,815,603,606,036,480 cycles",
    "1,541,815,603,606,036,480 cyclists",
  ],
  ["base 62 is read only where it is alone", "saw 1ptWyK4WgaA there", "1ptWyK4WgaA"],
])("%s", (_, refused, accepted) => {
  test("it is refused", () => expect(found(refused)).toEqual([]));
  test("its neighbour is found", () => expect(found(accepted)).toHaveLength(1));
});

test("N9: a number with bit 63 set is found alone or by its key, and says so", () => {
  const codec = createTextCodec({ layout: layouts.twitter, namespace: "" });
  const finds = (text: string) => findIds(text, { nowMs, codec }).finds;
  expect(finds("-6883128403432964096")).toMatchObject([{ start: 0, end: 20, kind: "unsigned", notes: ["negative"] }]);
  expect(finds("id=17541815603606036480")).toMatchObject([{ kind: "unsigned", notes: ["above-63-bits"] }]);
  expect(finds("saw -6883128403432964096 there")).toEqual([]);
  expect(finds("-6883128403432964096\n".repeat(4))).toEqual([]);
});

test("N12: a number that a rule refused counts as one of many, if five like it are found", () => {
  const others = [1, 2, 3, 4, 5].map((last) => `154181560360603648${last}`);
  const doubtful = "1541111111111111555";
  expect(found([doubtful, ...others.slice(1)].join("\n"))).toHaveLength(4);
  expect(found([doubtful, ...others].join("\n"))).toHaveLength(6);
});

test("a Unix time is found as a time, and never as an ID", () => {
  expect(foundTimes("1656432460105")).toEqual(["1656432460105"]);
  expect(foundTimes('{"iat":1656432460,"sub":"175928847299117063"}')).toEqual(["1656432460"]);
  expect(foundTimes("at 1656432460.123456 in a sentence, ts=1656432460.25")).toEqual(["1656432460.25"]);
  expect(foundTimes("<t:1656432460:R>")).toEqual(["1656432460"]);
  expect(foundTimes(`cpu,host=a v=1 ${id}`)).toEqual([id]);
});

test("digits between underscores are found each for itself", () => {
  expect(found("img_1541815603606036480_2.png")).toEqual([id]);
  expect(found(`3456789012345678901_175928847299117063`)).toEqual(["3456789012345678901", "175928847299117063"]);
});

test("a UUID is found in each of its spellings, with the dashes that strict reading wants", () => {
  const codec = createTextCodec({ layout: layouts.twitter, namespace: "" });
  const uuid = "0181ab11-8149-75e8-82af-cd06cf6470a3";
  const bare = uuid.replaceAll("-", "");
  for (const text of [
    uuid,
    uuid.toUpperCase(),
    `{${uuid}}`,
    `urn:uuid:${uuid}`,
    bare,
    `0x${bare.toUpperCase()}`,
    `UNHEX('${bare}')`,
  ])
    expect(findIds(text, { nowMs, codec }).finds).toMatchObject([{ kind: "uuid", strict: uuid }]);
});

test("short IDs are found where the chosen layout makes such", () => {
  expect(found("saw 116966123456789 there")).toEqual([]);
  expect(found("saw 116966123456789 there", layouts.javascript)).toEqual(["116966123456789"]);
});

test("the text before an ID names its maker", () => {
  const codec = createTextCodec({ layout: layouts.twitter, namespace: "" });
  const makers = (text: string) => findIds(text, { nowMs, codec }).finds.map(({ maker }) => maker);
  expect(makers("<@!175928847299117063>")).toEqual(["discord"]);
  expect(makers(`https://x.com/jack/status/${id}`)).toEqual(["twitter"]);
  expect(makers("https://mastodon.social/@Gargron/109367892345678901")).toEqual(["mastodon"]);
  expect(makers(`order ${id}`)).toEqual([undefined]);
});

test("a limit ends the search, and says where", () => {
  const codec = createTextCodec({ layout: layouts.twitter, namespace: "" });
  const { finds, readLength } = findIds(`${id}\n`.repeat(5), { nowMs, codec, limit: 2 });
  expect(finds).toHaveLength(2);
  expect(readLength).toBe(40);
  expect(findIds("word\n".repeat(500_000), { nowMs, codec }).readLength).toBe(1_999_999);
});
