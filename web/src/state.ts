import type { Layout } from "../../src/snowflake/layout.ts";
import type { Find } from "../../src/text/find/find.ts";
import type { FoundIds } from "../../src/text/find/find-ids.ts";
import type { TextForm, TextFormat } from "../../src/text/text-form.ts";
import type { ReportedStatus, SecondSample } from "../../src/service/message/status-message.ts";
import type { HandParts } from "./hand-ids.ts";
import { firstChoice, type LayoutChoice } from "./layout-choice.ts";
import type { Failure } from "./failure.ts";
import type { Language } from "./language.ts";
import type { SampleLanguage } from "./layout-samples.ts";
import type { LineReading } from "./read-line.ts";
import type { CallLanguage } from "./call-samples.ts";

/** The views, in the order of the tabs. */
export const views = ["parse", "generate", "learn", "watch", "proof"] as const;

/** One of {@link views}. */
export type View = (typeof views)[number];

/** Light and dark; `auto` follows the system. */
export type Theme = "auto" | "light" | "dark";

/** What the server is, as it says itself. */
export interface ServerInfo {
  readonly layout: Layout;
  /** As its worker ID, 0 while it holds none. */
  readonly datacenterId: number;
  readonly workerId: number;
  readonly version: string;
  /** The most IDs that one stream may bring. */
  readonly batchCountMax: number;
  /** The most IDs that one list may have. */
  readonly nextCountMax: number;
  /** When its layout runs out, Unix milliseconds. */
  readonly exhaustionMs: number;
  readonly rollbackPolicy: string;
}

/** Whether the server answers. What it said last stays known while it is away. */
interface ServerState {
  /**
   * `closed`: it wants a token. `waiting`: it answers, and issues no IDs for now. `none`: the page is a static site,
   * without a server.
   */
  readonly kind: "asking" | "serving" | "waiting" | "away" | "closed" | "none";
  readonly info: ServerInfo | undefined;
}

/** How IDs are to be written, as it is typed. */
export interface FormatChoice {
  readonly form: TextForm;
  readonly serialPrefix: string;
  readonly utcOffset: string;
  readonly checkSymbol: boolean;
  readonly typePrefix: string;
}

/** A run of Generate. */
export type Job =
  | { readonly kind: "idle" }
  | { readonly kind: "running"; readonly done: number; readonly count: number; readonly startedMs: number }
  | {
      readonly kind: "shown";
      readonly texts: readonly string[];
      readonly ids: readonly bigint[];
      /** The format that {@link texts} are in. */
      readonly format: TextFormat;
      readonly tookMs: number;
    }
  | {
      readonly kind: "file";
      readonly lines: Blob;
      readonly count: number;
      readonly tookMs: number;
      readonly end: "complete" | "cancelled";
    }
  | { readonly kind: "failed"; readonly failure: Failure };

/** The state of Generate. */
export interface GenerateState {
  readonly source: "server" | "hand";
  readonly count: string;
  readonly format: FormatChoice;
  readonly job: Job;
  /** IDs of presses before the last one, the newest first: at most 20. */
  readonly earlier: readonly bigint[];
  /** Whether the UUIDs of the server are those of the namespace `default`, as the page writes them. */
  readonly uuids: "unknown" | "as-here" | "others";
  /** The language of the code for a call, and of that for an ID by hand. */
  readonly callLanguage: CallLanguage;
  readonly handLanguage: SampleLanguage;
  readonly hand: HandParts;
  /** Unix milliseconds of the last change of {@link hand}: the time of the ID where none is typed. */
  readonly handNowMs: number;
  /** The field of the bit strip that is pointed at. */
  readonly field: number | undefined;
}

/** One ID in the text of Parse, or a line that holds none. */
export interface Entry extends TextRange {
  readonly reading: LineReading;
  /** What the search says of it; undefined for a line in which it found nothing, or several IDs. */
  readonly find: Find | undefined;
}

/** A place in the text of Parse: UTF-16 units, the end exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** The lines of Parse, where there are several: read in pieces, so that the page never stands still. */
export interface ReadLines {
  readonly pieces: readonly (readonly Entry[])[];
  /** Lines that are to be read. */
  readonly count: number;
  readonly readCount: number;
}

/** A part of the time of a list: Unix milliseconds, both inclusive. */
export interface TimeSpan {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** A span of time whose IDs a query asks for. */
export const rangeUnits = ["minute", "hour", "day"] as const;

/** The columns that the rows of a list can be sorted by. */
export const listColumns = ["row", "id", "time", "worker", "sequence", "gap"] as const;

/** How the rows of a list are shown. */
export interface ListChoice {
  readonly column: (typeof listColumns)[number];
  readonly direction: "up" | "down";
  /** Words that a row must have, as they were typed. */
  readonly filter: string;
  /** The part of the time that is shown larger, with its rows alone; undefined: all of it. */
  readonly span: TimeSpan | undefined;
  /** `odd`: copies, and rows that are earlier than one before them, each with its neighbours. */
  readonly rows: "all" | "odd";
  /** A row counts as out of order when it is earlier than the latest one before it by more. */
  readonly slackMs: number;
  /** Rows that are drawn by now: more come with each frame. */
  readonly drawnCount: number;
}

/** The state of Parse. */
export interface ParseState {
  readonly text: string;
  /** The form; undefined: detected. */
  readonly form: TextForm | undefined;
  /** The run that reads the text. */
  readonly run: symbol | undefined;
  /** The finds in the text; undefined until it was searched. */
  readonly found: FoundIds | undefined;
  /** Undefined for no ID and for one. */
  readonly lines: ReadLines | undefined;
  /** The IDs that the reader left out of all that is shown. */
  readonly excluded: readonly TextRange[];
  /** Which of the IDs is shown: an index. */
  readonly at: number;
  /** Which one was shown before it, to compare the two; undefined as long as there was none. */
  readonly before: number | undefined;
  /** Lines that were pasted and left out, because they are more than are read. */
  readonly leftOutCount: number;
  /** The field of the bit strip that is pointed at, from the highest bit down. */
  readonly field: number | undefined;
  readonly range: { readonly unit: (typeof rangeUnits)[number]; readonly column: string };
  readonly list: ListChoice;
}

/** A worker ID, as the server lists it. */
export interface WorkerRow {
  readonly datacenterId: number;
  readonly workerId: number;
  readonly state: WorkerState;
  readonly host: string;
  readonly instance: string;
  readonly version: string;
  readonly processId: string;
  /** The three below are Unix milliseconds; undefined where it is not known. */
  readonly startMs: number | undefined;
  readonly markMs: number | undefined;
  readonly freeMs: number | undefined;
  readonly windowLeftMs: number | undefined;
}

/** The state of a worker ID. */
export const workerStates = ["held", "released", "expired", "quarantined", "unreadable"] as const;

/** One of {@link workerStates}. */
type WorkerState = (typeof workerStates)[number];

/** All worker IDs at one time. */
export interface WorkerList {
  readonly rows: readonly WorkerRow[];
  readonly idCount: number;
  readonly freeCount: number;
  readonly quarantineEndMs: number | undefined;
  readonly quarantineReason: string;
}

/** The state of the server, as it says itself. */
export interface ServerStatus extends ReportedStatus {
  /** At most 300, by rising index. */
  readonly samples: readonly SecondSample[];
}

/** A sequence, as the server lists it. */
export interface SequenceRow {
  readonly name: string;
  readonly description: string;
  /** 0: none is left. */
  readonly nextValue: bigint;
  readonly leftCount: bigint;
  readonly textTemplate: string;
  readonly disabled: boolean;
}

/** What the last look at a part of the server brought; what came before stays while a look fails. */
export interface Seen<T> {
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
}

/** The state of Watch. */
interface WatchState {
  readonly list: Seen<WorkerList>;
  readonly status: Seen<ServerStatus>;
  /** Its value is undefined where the server keeps no sequences. */
  readonly sequences: Seen<readonly SequenceRow[]>;
  /** The seconds that the charts show. */
  readonly seconds: 60 | 300;
  /** Whether the server is asked again and again. */
  readonly looks: "on" | "paused";
  readonly find: string;
  readonly only: WorkerState | "all";
}

/** Whether the server wants a token, and what was typed. The token that is sent is kept in token.ts. */
interface AccessState {
  readonly kind: "open" | "wanted" | "asked" | "wrong" | "given";
  readonly typed: string;
}

/** The one state of the page. Views are pure functions of it. */
export interface State {
  readonly view: View;
  /** Whether the address had parts that could not be read. */
  readonly link: "fine" | "broken";
  readonly theme: Theme;
  readonly language: Language;
  /** Whether the browser asks for Chinese in traditional characters. */
  readonly wantsTraditional: boolean;
  /** Unix milliseconds of the last change. */
  readonly nowMs: number;
  /** Whether the view is on the screen. Parts that take long to draw, and are not wanted at once, wait for that. */
  readonly isShown: boolean;
  readonly server: ServerState;
  /** Whether every part of the page that was wanted could be loaded. */
  readonly parts: "there" | "missing";
  readonly access: AccessState;
  readonly layout: LayoutChoice;
  /** Whether the controls for another epoch or layout are shown. */
  readonly layoutDetail: "shown" | "hidden";
  readonly parse: ParseState;
  readonly generate: GenerateState;
  readonly watch: WatchState;
  /** The language of the program on Learn. */
  readonly sampleLanguage: SampleLanguage;
  /** The copy button that was pressed last, and what came of it. */
  readonly copied: { readonly key: string; readonly outcome: "done" | "refused" } | undefined;
}

/** Makes the next state of the present one. */
export type Change = (next: (state: State) => State) => void;

const unseen = { value: undefined, failure: undefined };

/** The rows of a list as they are in the text, all of them. */
export const firstList: ListChoice = {
  column: "row",
  direction: "up",
  filter: "",
  span: undefined,
  rows: "all",
  slackMs: 1_000,
  drawnCount: Number.MAX_SAFE_INTEGER,
};

/** The form of IDs that Generate begins with. */
export const firstFormat: FormatChoice = {
  form: "decimal",
  serialPrefix: "",
  utcOffset: "+00:00",
  checkSymbol: false,
  typePrefix: "order",
};

/** The parts of an ID by hand that Generate begins with. */
export const firstHand: HandParts = { time: "", datacenterId: "0", workerId: "0", sequence: "0", count: "1" };

/** What the page begins with. */
interface Beginning {
  readonly nowMs: number;
  readonly theme: Theme;
  readonly language: Language;
  readonly wantsTraditional: boolean;
  readonly hasServer: boolean;
}

/** The state before anything happened. */
export function firstState(beginning: Beginning): State {
  const { nowMs, theme, language, wantsTraditional, hasServer } = beginning;
  return {
    view: "parse",
    link: "fine",
    theme,
    language,
    wantsTraditional,
    nowMs,
    isShown: false,
    server: { kind: hasServer ? "asking" : "none", info: undefined },
    parts: "there",
    access: { kind: "open", typed: "" },
    layout: firstChoice,
    layoutDetail: "hidden",
    parse: {
      text: "",
      form: undefined,
      run: undefined,
      found: undefined,
      lines: undefined,
      excluded: [],
      at: 0,
      before: undefined,
      leftOutCount: 0,
      field: undefined,
      range: { unit: "hour", column: "id" },
      list: firstList,
    },
    generate: {
      source: hasServer ? "server" : "hand",
      count: "1",
      format: firstFormat,
      job: { kind: "idle" },
      earlier: [],
      uuids: "unknown",
      callLanguage: "curl",
      handLanguage: "javascript",
      hand: firstHand,
      handNowMs: nowMs,
      field: undefined,
    },
    watch: {
      list: unseen,
      status: unseen,
      sequences: unseen,
      seconds: 300,
      looks: "on",
      find: "",
      only: "all",
    },
    sampleLanguage: "javascript",
    copied: undefined,
  };
}
