import type { LayoutFieldKind } from "../../../src/snowflake/layout.ts";
import { groupDigits as number } from "../../../src/text/group-digits.ts";
import type { TextForm } from "../../../src/text/text-form.ts";
import type { TextFault } from "../../../src/text/malformed-text.ts";
import type { ChartName } from "../chart-data.ts";
import { type Failure, type FailureWords, failureWords } from "../failure.ts";
import type { LayoutProblem } from "../layout-choice.ts";
import type { PartProblem, TimeReading } from "../hand-ids.ts";
import { shortSpan, type ShortUnit, type Span, type SpanUnit } from "../time-words.ts";

/** All that the page says, in one language. A language that lacks a text does not compile. */
export type Texts = typeof en;

const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;
const unitWords: Readonly<Record<SpanUnit, string>> = {
  year: "year",
  day: "day",
  hour: "hour",
  minute: "minute",
  second: "second",
};
const spanWords = ({ large, small }: Span): string => {
  const [first, second] = [large, small].map((part) => part && counted(part.count, unitWords[part.unit]));
  return second === undefined ? (first ?? "") : `${first} and ${second}`;
};

const shortUnits: Readonly<Record<ShortUnit, string>> = { ms: "ms", s: "s", min: "min", h: "h", d: "d" };

const fields: Readonly<Record<LayoutFieldKind, string>> = {
  timestamp: "time",
  datacenter: "datacenter",
  worker: "worker",
  sequence: "sequence",
};

const textFaults: Readonly<Record<TextFault, string>> = {
  character: "has a character that is not allowed there",
  too_short: "ends too early",
  too_long: "goes on where it should end",
  leading_zero: "begins with a zero that should not be there",
  out_of_range: "holds a number that is too large for an ID",
  check_symbol: "ends with a check symbol that does not fit the rest: one character is probably wrong",
  date: "holds a date or a time that does not exist",
  tick: "holds a time that this layout cannot express",
  prefix: "has a prefix that is malformed",
  no_form: "does not look like any ID that this page knows",
  future: "would be an ID from the future, or of another layout",
};

const forms: Readonly<Record<TextForm, string>> = {
  decimal: "decimal",
  hex: "hex",
  base32: "base32",
  base58: "base58",
  base62: "base62",
  serial: "serial",
  uuid: "UUID",
  typed: "typed",
};

const failures: FailureWords = {
  UNREACHABLE: "The server does not answer. Parse and Generate in the browser go on without it.",
  UNAUTHENTICATED: "The server asks for a token: enter one above.",
  DENIED: "You may not call this. Ask the operator for permission.",
  MISSING_CREDENTIALS: "The server asks for a token: enter one above.",
  METHOD_DENIED: "You may not call this method. Ask the operator for permission.",
  COUNT_OUT_OF_RANGE: "The server does not give that many IDs at once. Ask for fewer.",
  BURST_EXCEEDED: "The server is at its limit for the moment. Try again in a second.",
  STORE_UNAVAILABLE: "The server cannot reach its store. It tries again by itself.",
  WINDOW_EXPIRED: "The server could not reserve time in its store. It tries again by itself.",
  WORKER_LEASE_LOST: "The server has no worker ID at the moment, and is acquiring one. Try again in a moment.",
  CLOCK_ROLLED_BACK: "The server's clock was set back. It waits until the clock has caught up.",
  SHUTTING_DOWN: "The server is stopping. Try again when it runs again.",
  QUOTA_EXCEEDED: "Your quota is used up for the moment. Try again later.",
  CLOCK_BEFORE_EPOCH: "The server's clock is before the epoch of its layout.",
  TIMESTAMP_EXHAUSTED: "The layout's time is used up: it can hold no later time.",
  STORE_WENT_BACK: "The store lost some of its data, as after a restore.",
  HOST_NOT_ALLOWED: "The server does not answer under this host name.",
  INVALID_TEXT_FORMAT: "The server cannot write this text form.",
  STREAM_STALLED: "The server ended the stream, because the page took nothing for a while. Ask again.",
  NO_FREE_WORKER_ID: "All worker IDs are in use. The server waits for a free one.",
  LAYOUT_MISMATCH: "The store belongs to a deployment of another layout.",
  OTHER: "The server says:",
};

/** What a time that was typed was read as; a date says that itself. */
const unixUnits: Readonly<Record<TimeReading["kind"], string>> = {
  now: "",
  date: "",
  s: "Unix seconds: ",
  ms: "Unix milliseconds: ",
  us: "Unix microseconds: ",
  ns: "Unix nanoseconds: ",
};

const partProblem = (problem: PartProblem): string => {
  switch (problem.kind) {
    case "not-whole":
      return `Write a whole number from ${number(problem.min)} to ${number(problem.max)}.`;
    case "range":
      return `In this layout the field is ${number(problem.min)} to ${number(problem.max)}.`;
    case "unreadable-time":
      return "Write a time such as 2026-01-31 12:00:00.000 (UTC) or with +03:00 behind it, or a Unix time.";
    case "before-epoch":
      return `Before the layout's epoch, ${problem.limit}: no ID can carry this time.`;
    case "after-end":
      return `After the layout's end, ${problem.limit}: no ID can carry this time.`;
  }
};

const layoutProblem = (problem: LayoutProblem): string => {
  switch (problem.kind) {
    case "date":
      return "Write a date such as 2020-01-01.";
    case "milliseconds":
      return "Write Unix milliseconds, such as 1577836800000.";
    case "future":
      return "This epoch lies in the future: no ID can be made before it.";
    case "range":
      return "An epoch lies between the years 1 and 9999.";
    case "bits":
      return "A field has 0 to 32 bits, the time 1 to 62.";
    case "sum":
      return `The fields take ${problem.bits} bits. At most 63 are possible, because the first bit stays 0.`;
    case "identity":
      return `Datacenter and worker take ${problem.bits} bits. At most 32 are possible.`;
    case "timestamp":
      return "An ID needs at least one bit of time.";
  }
};

/** English. */
export const en = {
  locale: "en-GB",
  number,
  fields,
  forms,
  nav: {
    label: "Views",
    generate: "Generate",
    parse: "Parse",
    learn: "Learn",
    watch: "Watch",
    proof: "Proof",
  },
  skip: "To the content",
  title: {
    generate: "Generate IDs",
    parse: "Parse an ID",
    learn: "How an ID works",
    watch: "Watch the workers",
    proof: "Watch the proof",
  },
  about: {
    sentence: "Snowlane is a service that hands out unique, time-sorted 64-bit IDs.",
    learn: "How such an ID works",
    links: { docs: "Docs", api: "API", source: "Source", changes: "Changes", licence: "Licence" },
  },
  server: {
    asking: "connecting",
    serving: "serving",
    waiting: "not serving",
    away: "not reachable",
    closed: "needs a token",
    none: "without a server",
    worker: (datacenterId: number, workerId: number, hasDatacenter: boolean) =>
      `as worker ${hasDatacenter ? `${datacenterId} / ` : ""}${workerId}`,
  },
  access: {
    title: "This server needs a token",
    lead: "Give a token that the server knows. Parse, Learn and Generate in the browser need none.",
    plaintext: "This page came without TLS: the token would cross the network for all to read.",
    label: "Token",
    hint: "It stays in this tab, and is gone after a reload.",
    wrong: "The server does not know this token.",
    use: "Use this token",
    given: "Calls carry your token.",
    forget: "Forget it",
  },
  brokenLink: "The link has a part that could not be read. The rest was read.",
  missing: {
    text: "A part of this page cannot be loaded. The server could not be reached, or now runs another version.",
    reload: "Load the page again",
  },
  language: { label: "Language of the page", note: "" },
  theme: { label: "Colours", auto: "Auto", light: "Light", dark: "Dark" },
  footer: (version: string | undefined) =>
    `Snowlane${version === undefined ? "" : ` ${version}`}. Nothing that you type on Parse leaves this page.`,
  copy: { copy: "Copy", done: "Copied", refused: "Not allowed: select it and copy by hand" },
  layout: {
    label: "Layout",
    ofServer: "This server's",
    guess: "Best guess for each ID",
    custom: "A layout of your own",
    since: (name: string, day: string) => `${name}, since ${day}`,
    ended: (day: string) => `, ended ${day}`,
    detail: "Change the epoch or the layout",
    epochDate: "Epoch, as a date (UTC)",
    epochMs: "Epoch, in Unix milliseconds",
    ownEpoch: (day: string) => `Empty: the layout's own, ${day}`,
    tick: "Unit of time",
    bitsOf: (kind: LayoutFieldKind) => `Bits of ${fields[kind]}`,
    up: (kind: LayoutFieldKind) => `Move ${fields[kind]} to the left`,
    down: (kind: LayoutFieldKind) => `Move ${fields[kind]} to the right`,
    fields: "Fields, the highest bits first",
    sum: (bits: number) => `${bits} of 63 bits used.`,
    problem: layoutProblem,
  },
  parse: {
    heading: "Paste anything that holds IDs",
    lead: "JSON, logs, SQL output, links, a column of a table. The IDs are found and read here; nothing leaves this page.",
    ids: "Text with IDs",
    placeholder: "1541815603606036522",
    form: "Text form",
    detect: "detect it",
    copyLink: "Copy link",
    result: "Result",
    empty: "An ID says when it was made and by which worker. Paste one above, or read an example:",
    examples: "Examples",
    inFuture: (span: Span) => `in ${spanWords(span)}`,
    ago: (span: Span) => `${spanWords(span)} ago`,
    local: (zone: string) => `where you are (${zone})`,
    utc: "UTC",
    madeBy: (datacenterId: number | undefined, workerId: number | undefined, sequence: number | undefined) => {
      const worker = workerId === undefined ? "" : `worker ${number(workerId)}`;
      const place = datacenterId === undefined ? "" : `datacenter ${number(datacenterId)}`;
      const maker = [worker, place].filter((part) => part !== "").join(" of ");
      const order = sequence === undefined ? "" : `sequence ${number(sequence)}`;
      return [maker === "" ? "" : `made by ${maker}`, order].filter((part) => part !== "").join(", ");
    },
    bits: "Bits of the ID",
    bitsHint: "Point at a field, or use the arrow keys.",
    bitRange: (name: string, high: number, low: number, value: string) =>
      `${name}: ${high === low ? `bit ${high}` : `bits ${high} to ${low}`}, value ${value}`,
    sign: "always 0",
    unused: "unused",
    fieldBits: (name: string, bits: number) => `${name}, ${bits}`,
    firstFieldBits: (name: string, bits: number) => `${name}, ${counted(bits, "bit")}`,
    ticks: (unit: string) => `${unit} since the epoch`,
    tickUnits: (tickNs: number) =>
      tickNs === 1e6
        ? "Milliseconds"
        : tickNs === 1e9
          ? "Seconds"
          : tickNs < 1e6
            ? `Units of ${tickNs / 1e3} µs`
            : `Units of ${tickNs / 1e6} ms`,
    datacenter: "Datacenter",
    worker: "Worker",
    sequence: "Sequence",
    everyForm: "Text forms",
    others: "Which system made it",
    noOthers: "No known layout gives this ID a time in the past.",
    othersNote: "A number cannot name its layout. A choice holds for all IDs of the text.",
    readAs: (name: string) => `Read it as ${name}`,
    unixTime: (time: string) => `This is a Unix time, ${time}, more likely than an ID.`,
    notYet: "No ID of this layout can be from the future, so another one made it.",
    ended: (day: string) => `The layout ended on ${day}: no new ID can have it.`,
    uuid: {
      title: (version: number) => (version === 0 ? "A UUID" : `UUID version ${version}`),
      none: "It holds no ID of this layout.",
      noTime: "It carries no time.",
      variant: "Variant",
      clockSequence: "Clock sequence",
      node: "Node",
    },
    foreign: {
      title: (kind: string) =>
        ({ ulid: "A ULID", ksuid: "A KSUID", objectid: "An ObjectId", xid: "An xid", typeid: "A TypeID" })[kind] ??
        kind,
      note: "Another generator wrote this text.",
    },
    refused: "This is not an ID",
    lookedFor:
      "The page looks for numbers of 14 to 19 digits, hex with 0x, UUIDs, ULIDs, KSUIDs, ObjectIds, xids and TypeIDs.",
    fault: (fault: TextFault, position: number, form: string | undefined) => {
      const place = fault === "no_form" || fault === "future" ? "" : ` (character ${position + 1})`;
      return `${form === undefined ? "The text" : `Read as ${form}, the text`} ${textFaults[fault]}${place}.`;
    },
    ambiguous: (candidates: readonly string[]) => `It can be ${candidates.join(" or ")}. Choose the form.`,
    outsideLayout: "The number does not fit this layout: it is too large, or has a time after the layout's end.",
    tooLarge: "An ID lies between 0 and 9,223,372,036,854,775,807.",
    many: (count: number, refused: number) =>
      `${counted(count, "line")} read${refused === 0 ? "" : `, of which ${counted(refused, "holds", "hold")} no ID`}.`,
    reading: (done: number, count: number) => `Reading: ${number(done)} of ${counted(count, "line")}`,
    leftOut: (read: number, left: number) =>
      `The first ${number(read)} lines are read; ${counted(left, "more line is", "more lines are")} left out.`,
    shortened: "Only the start of the text is shown here; all of it is in the table.",
    clear: "Clear",
    downloadCsv: "Download CSV",
    by: "Worker",
    workerOf: (datacenterId: number | undefined, workerId: number | undefined) =>
      [datacenterId, workerId].filter((part) => part !== undefined).join(" / "),
    found: "Found",
    readWhole: "Read as one ID",
    foundCount: (ids: number, times: number) =>
      `${counted(ids, "ID")} found${times === 0 ? "" : ` and ${counted(times, "Unix time")}`}`,
    moreFound: (count: number) => `${counted(count, "more ID is", "more IDs are")} in the table.`,
    foundKeys: "Arrow keys move, Enter copies an ID, Delete leaves it out.",
    leaveOut: (place: number) => `Leave out number ${number(place)}`,
    takeBack: (count: number) => `${number(count)} left out: take ${count === 1 ? "it" : "them"} back`,
    noId: "no ID",
    exampleLog: "Try a log",
    linkTooLong: "Too long for a link",
    badges: { rounded: "rounded", unsigned: "64 bits" },
    notes: {
      rounded:
        "A spreadsheet or a JSON parser rounded this number. The time is right; the worker may be off, the sequence is lost.",
      negative: "Bit 63 is set, so that a signed number is negative: no layout here sets it.",
      "above-63-bits": "Bit 63 is set: no layout here sets it.",
      padded: "The number has leading zeros. They were left out.",
    },
    holdsTime: (time: string) => `The text has a Unix time: ${time}.`,
    sixtyFourBits: { title: "All 64 bits", signed: "signed", unsigned: "unsigned" },
    times: {
      title: "Time",
      local: "Local",
      utc: "UTC",
      iso: "ISO 8601",
      unixMs: "Unix ms",
      unixS: "Unix s",
      sinceEpoch: "Since epoch",
    },
    moreFit: (count: number) => `${number(count)} more fit`,
    backToBest: "Read each ID by its best guess",
    yourChoice: "Your choice for all IDs of the text.",
    bestGuess: "Best guess.",
    bestGuessBecause: (reason: string) => `Best guess: ${reason}.`,
    reasons: {
      maker: "the text names the system",
      own: "this server makes such IDs",
      together: "the IDs of the text fit it best together",
      recent: "the ID would be from the last 90 days",
      "low-sequence": "the sequence number is low, as in most IDs",
      known: "many IDs are of this layout",
    },
    range: {
      title: "IDs of the same",
      unit: "Span",
      units: { minute: "minute", hour: "hour", day: "day" },
      column: "Column",
      copy: "Copy the query",
      span: (from: string, to: string) => `${from} to ${to} UTC, both IDs inclusive.`,
      firstFilter: "Another field is above the time, so IDs of other times lie in between as well.",
      none: "The layout has no ID in this span.",
    },
    difference: {
      title: "Difference",
      with: "With",
      time: "Time",
      same: "Same",
      number: "Number",
      none: "Paste a second ID to see the time between the two, and whether one worker made both.",
      span: (span: Span, ms: number) => (ms < 1_000 ? `${ms} ms` : `${spanWords(span)} (${number(ms)} ms)`),
      later: (span: string) => `${span} later`,
      earlier: (span: string) => `${span} earlier`,
      sameTime: "the same",
      noField: "no field",
      otherLayout: "Each is read by a layout of its own.",
    },
    list: {
      title: "As a list",
      ids: "IDs",
      different: (count: number) => `${number(count)} different`,
      copies: "Duplicates",
      copiesNote: "each copy after the first",
      breaks: "Order breaks",
      upTo: (ms: number) => `by up to ${shortSpan(ms, shortUnits)}`,
      rate: "Rate",
      perSecond: (rate: number) => `${rate < 10 ? Number(rate.toFixed(2)) : number(Math.round(rate))}/s`,
      peak: (count: number, time: string) => `peak ${number(count)}/s at ${time}`,
      gap: "Longest gap",
      length: (ms: number) => shortSpan(ms, shortUnits),
      from: (time: string) => `from ${time}`,
      workers: "Workers",
      span: (from: string, to: string) => `${from} to ${to}`,
      timeline: "IDs by worker",
      timelineSays: (workers: number) =>
        `The IDs of ${counted(workers, "worker")} over time. The table below has each of them.`,
      binNote: (ms: number) => `IDs in ${shortSpan(ms, shortUnits)}`,
      moreWorkers: (count: number) => `${counted(count, "more worker")} in the table`,
      zoomHint: "Press on a part of the time to see it larger.",
      zoomTo: (from: string, to: string, count: number) => `${from} to ${to}: ${counted(count, "ID")}`,
      zoomed: (from: string, to: string) => `Shown here and in the table: ${from} to ${to} (UTC).`,
      zoomOut: "Show the whole time",
      copy: "duplicate",
      break: "out of order",
      rows: "Rows",
      all: "All",
      odd: (count: number) => `Only odd ones (${number(count)})`,
      slack: "Out of order from",
      slackOf: (seconds: number) => `${seconds} s`,
      filter: "Filter",
      filterHint: "A worker, as in “worker 3”, or a part of an ID or a time",
      columns: {
        row: "Row",
        id: "ID",
        time: "Time (UTC)",
        worker: "Worker",
        sequence: "Sequence",
        gap: "After the row before",
      },
      after: (ms: number) => `${ms < 0 ? "−" : "+"}${shortSpan(Math.abs(ms), shortUnits)}`,
    },
  },
  generate: {
    heading: "Generate IDs",
    lead: {
      server: "From this server. No other caller of its deployment gets the same ID.",
      hand: "In your browser, for tests and examples.",
    },
    source: "Source",
    fromServer: "From this server",
    byHand: "In the browser",
    count: "How many",
    countProblem: (max: number) => `Write a whole number from 1 to ${number(max)}.`,
    form: "Text form",
    serialPrefix: "Prefix",
    serialPrefixHint: "0 to 16 of A-Z and 0-9",
    utcOffset: "Offset from UTC",
    utcOffsetProblem: "Write an offset such as +03:00, from -18:00 to +18:00.",
    checkSymbol: "Check symbol at the end",
    typePrefix: "Type",
    typePrefixHint: "A letter of a-z, then 0 to 15 of a-z and 0-9",
    generate: "Generate",
    cancel: "Cancel",
    progress: (done: number, count: number) => `${number(done)} of ${number(count)}`,
    rate: (perSecond: number) => `${number(Math.round(perSecond))} IDs a second`,
    took: (count: number, ms: number) =>
      `${counted(count, "ID")} in ${ms < 10 ? ms.toFixed(1) : number(Math.round(ms))} ms.`,
    above: (shownMax: number) => `More than ${number(shownMax)} come as a file.`,
    first: "Press Generate for an ID that nobody else will ever get from this deployment.",
    copy: "Copy",
    copyAll: "Copy all",
    readIt: "Read it",
    download: "Download",
    ready: (count: number) => `${counted(count, "ID")}, ready to download`,
    cancelled: (count: number) => `Cancelled. You can use the ${counted(count, "ID")} that had arrived.`,
    failed: "No ID arrived",
    result: "Result",
    ids: "The IDs",
    failure: ({ reason, message, permission }: Failure) =>
      permission === undefined
        ? failureWords(failures, reason, message)
        : `Your credentials lack the permission ${permission}. Ask the operator for it.`,
    code: "The same from code",
    language: "Language",
    codeNote:
      "For many IDs take a client, in the folder clients of the repository: it keeps IDs ready, and bridges outages.",
    codeMost: (max: number) => `One call brings at most ${number(max)} IDs. The clients stream more.`,
    codeToken: (name: string) => `The code takes the token from the variable ${name}.`,
    handCodeNote: "It gives the first ID as a number.",
    copyCode: "Copy the code",
    warning: "Made by hand: nothing keeps it unique. Two people who type the same numbers get the same ID.",
    time: "Time",
    timeHint: "Empty for now; ISO 8601 with any offset; or a Unix time",
    timeRead: (kind: TimeReading["kind"], iso: string) => `${unixUnits[kind]}${iso}`,
    now: "Now",
    handCountHint: "Further IDs take the next sequence numbers, then the next tick.",
    partProblem,
    range: (max: number) => `0 to ${number(max)}`,
    noServer: "This site has no server behind it, so IDs are only made by hand.",
    firstParts: (count: number) => `The parts of the first ${number(count)} IDs:`,
    earlier: "Earlier in this tab",
    readAll: "Read as a list",
    origin: "Where it comes from",
    promise:
      "IDs stay unique as long as the store keeps what it confirmed. With a store that may lose it, clocks count, too.",
    uuidNote: "Press Generate again: the page cannot write this form of the server's IDs by itself.",
    fix: "Correct the fields that are marked, then the ID appears here.",
  },
  learn: {
    contents: "Contents",
    bits: "The bits",
    programs: "Programs",
    heading: "How an ID works",
    lead: "A Snowflake ID is one whole number of at most 63 bits. It says when it was made and by which worker, and sorts by time.",
    parts: "The parts of",
    time: (time: string, epoch: string) =>
      `When the ID was made: ${time} (UTC), counted from the layout's epoch, ${epoch}. It takes the highest bits, so IDs sort by time.`,
    fieldTexts: {
      datacenter: "A group of workers. Each datacenter numbers its own workers, so datacenters can work apart.",
      worker: "The process that made it. No two processes may have the same worker ID at one time.",
      sequence: "It tells apart the IDs that this worker made in the same unit of time.",
    },
    steps: "How it is made, step by step",
    sum: "the ID",
    calculator: "What the layout holds",
    until: "Lasts until",
    yearsLeft: "Years left",
    workerIds: "Worker IDs",
    perWorker: "IDs a second, each worker",
    all: "IDs a second, all workers",
    highest: "Highest ID",
    calculatorNote:
      "Choose another layout above, or one of your own: a bit more for one field is a bit less for another.",
    program: "Make and read these IDs in a program",
    programNote:
      "The program has the layout that is chosen above, loses no digit above 2^53, and refuses numbers out of range.",
    programTexts: [
      [
        "After a restart,",
        "its first ID comes after the unit of time in which it started, so a restart repeats none while clocks go forward.",
      ],
      ["When a unit of time is full,", "it waits for the next one."],
      [
        "While the clock is behind its last ID,",
        "it refuses. It keeps nothing, so a restart forgets that ID, and IDs can then repeat.",
      ],
      [
        "A second process",
        "with the same worker ID repeats its IDs, and neither sees it. To give each process its own is the work of a server.",
      ],
    ],
    uses: {
      title: "Where such IDs fit",
      texts: [
        [
          "Rows that many programs write.",
          "Each worker makes its IDs by itself, and new IDs go to the end of an index, whatever table they are in.",
        ],
        [
          "Messages, events, posts.",
          "Sorted by ID they are sorted by time, to within the difference of clocks, and the last ID that was read is the place to go on from.",
        ],
        ["Questions about time.", "The IDs of an hour are one range, so they need no second index."],
        [
          "Not so well:",
          "secrets and links that nobody may guess, which want random IDs, and invoice numbers without a gap, which are counted in the transaction that writes the invoice.",
        ],
      ],
    },
    limits: {
      title: "Limits",
      texts: [
        ["It runs out.", "41 bits of milliseconds last 69 years. Under Twitter's epoch that is 10 July 2080."],
        ["It is not secret.", "Anyone can read when it was made and by which worker, and guess its neighbours."],
        [
          "It needs worker IDs.",
          "Two processes with the same worker ID repeat each other's IDs. Snowlane grants a worker ID to one process at a time, and records it in a store.",
        ],
        [
          "Time is only as true as the clock.",
          "A wrong clock gives a wrong time in the ID. With Snowlane it causes no repeat where the store keeps what it confirmed. With one that may lose data, such as Redis, clocks must be right to half a second.",
        ],
      ],
    },
    edges: {
      title: "Edge cases",
      texts: [
        [
          "JavaScript's 2^53.",
          "A number above 9,007,199,254,740,991 loses digits. Carry IDs as strings in JSON, and as BigInt in programs.",
        ],
        [
          "A clock that is set back.",
          "Simple generators repeat IDs or stop. By default, Snowlane goes on from the last time that it used.",
        ],
        [
          "A full unit of time.",
          "After 4,096 IDs in one millisecond a worker waits for the next, or runs a little ahead.",
        ],
        [
          "Sorted, but not exactly.",
          "The IDs of one worker rise. Those of different workers are sorted to within the difference of their clocks.",
        ],
        ["The first bit.", "It stays 0, so that the number is positive wherever integers have a sign."],
      ],
    },
    alternatives: {
      title: "Alternatives",
      columns: ["Kind", "Size", "Sorts by time", "Needs", "Shows"],
      rows: [
        ["Snowflake", "8 bytes", "yes", "worker IDs", "time and worker"],
        ["UUID v4", "16 bytes", "no", "nothing", "nothing"],
        ["UUID v7", "16 bytes", "yes", "nothing", "time"],
        ["ULID", "16 bytes, 26 characters", "yes", "nothing", "time"],
        ["Auto-increment", "4 or 8 bytes", "yes, in one table", "one database for all IDs", "how many there are"],
      ],
    },
    history: {
      title: "History",
      texts: [
        [
          "2010.",
          "Twitter moved from MySQL to Cassandra, which gives no IDs in order, and published Snowflake: 41 bits of time, 10 of worker, 12 of sequence.",
        ],
        ["2012.", "Instagram made its IDs inside PostgreSQL, with the shard in place of the worker."],
        ["2014.", "Sonyflake took units of 10 ms, to last longer and hold more workers."],
        ["2015.", "Discord took Twitter's widths, and the first second of the year as its epoch."],
        ["2024.", "RFC 9562 made UUID v7 a standard: a time in front, as here, with random bits behind it."],
      ],
    },
    references: {
      title: "References",
      announcement: "Twitter announces Snowflake (2010)",
      source: "The source of Snowflake (2010)",
      discord: "Discord: Snowflakes",
      instagram: "Instagram: sharding and IDs",
      uuid: "RFC 9562: UUIDs",
    },
  },
  watch: {
    heading: "Watch the workers",
    lead: "This server second by second, and every worker ID of its deployment, while this tab is in sight.",
    noServer: "This site has no server behind it. The page that a Snowlane server serves shows that server here.",
    failed: "The state of the server is unknown.",
    notServing: (reason: string) => `This server issues no IDs now. ${failureWords(failures, reason, reason)}`,
    quarantine: (until: string, reason: string) =>
      `No worker ID is granted until ${until} (UTC)${reason === "" ? "" : `: ${reason.replace(/\.$/, "")}`}. Servers that hold one go on.`,
    server: "This server",
    version: (version: string) => `version ${version}`,
    worker: "Its worker ID",
    workerOf: (datacenterId: number, workerId: number, hasDatacenter: boolean) =>
      hasDatacenter ? `${datacenterId} / ${workerId}` : String(workerId),
    held: "Worker IDs held",
    of: (count: number, all: number) => `${number(count)} of ${number(all)}`,
    free: (count: number) => `${number(count)} could be granted now`,
    window: "Time reserved ahead",
    windowNote: "How long it can go on without its store",
    leadTime: "IDs ahead of the clock",
    leadNote: "It grows with a burst",
    store: "Store",
    storeState: (isReachable: boolean, answerAgeMs: number | undefined, clockAheadMs: number | undefined) =>
      [
        isReachable || answerAgeMs === undefined ? "" : "a call to it failed",
        answerAgeMs === undefined ? "never answered" : `last answered ${(answerAgeMs / 1_000).toFixed(1)} s ago`,
        clockAheadMs === undefined
          ? ""
          : `its clock ${clockAheadMs >= 0 ? "+" : "−"}${number(Math.abs(Math.round(clockAheadMs)))} ms`,
      ]
        .filter((part) => part !== "")
        .join(", "),
    started: (span: Span) => `up for ${spanWords(span)}`,
    load: (connections: number, waiting: number) =>
      `${counted(connections, "connection")}${waiting === 0 ? "" : `, ${counted(waiting, "call")} waiting`}`,
    granted: (generation: number, since: string) => `since ${since}, generation ${number(generation)}`,
    milliseconds: (ms: number) => `${ms < 10 ? ms.toFixed(1) : number(Math.round(ms))} ms`,
    charts: "The last minutes",
    span: "How far back",
    minutes: (count: number) => `${count} min`,
    pause: "Pause",
    goOn: "Go on",
    asTable: "The same in numbers",
    chartColumns: ["Measure", "Now", "Least", "Average", "Greatest", "At"],
    figuresNote: "Figures are means of ten seconds.",
    ownCalls: "Some 0.8 calls a second are those of this page.",
    errorCodes: (codes: string) => `By code: ${codes}`,
    aboveScale: (value: string, time: string) => `Above the scale: ${value} at ${time}`,
    chart: {
      ids: "IDs a second",
      calls: "Calls a second",
      latency: "Time of a call, p50 and p99",
      errors: "Errors a second",
      lead: "IDs ahead of the clock",
      window: "Time reserved ahead",
    },
    measure: (name: ChartName, value: number | undefined) => {
      if (value === undefined) return "–";
      const rounded = value < 10 ? Number(value.toFixed(2)) : Math.round(value);
      const unit = name === "latency" || name === "lead" ? " ms" : name === "window" ? " s" : "";
      return `${number(rounded)}${unit}`;
    },
    sequences: "Sequences",
    noSequences: "There is no sequence yet. Make one with: snowlane sequences create NAME",
    sequenceColumns: ["Name", "Next", "Left", "Text template"],
    disabled: "disabled",
    noneLeft: "none",
    seconds: (ms: number) => `${(ms / 1_000).toFixed(1)} s`,
    layout: "Layout",
    until: (day: string) => `until ${day}`,
    rollback: "If its clock is set back",
    workers: "Workers",
    find: "Find",
    findHint: "Host, instance, version or worker ID",
    state: "State",
    all: "all",
    found: (count: number, all: number, max: number) =>
      all === 0
        ? "No worker ID was ever held."
        : `${number(count)} of ${counted(all, "worker ID")} that ${all === 1 ? "was" : "were"} ever held.${count > max ? ` The first ${number(max)} are shown.` : ""}`,
    columns: ["Worker", "State", "Host", "Process started", "Reserved until (UTC)", "Version"],
    windowLeft: (ms: number) => `${(ms / 1_000).toFixed(1)} s left`,
    states: {
      held: "held",
      released: "released",
      expired: "expired",
      quarantined: "quarantined",
      unreadable: "unreadable",
    },
    own: "this server",
    freeAt: (time: string) => `free from ${time}`,
    ago: (span: Span) => `${spanWords(span)} ago`,
  },
};
