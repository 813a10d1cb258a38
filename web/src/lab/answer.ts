import { html, nothing, type TemplateResult } from "lit-html";
import { makersFieldName } from "../../../src/snowflake/field-names.ts";
import type { ParsedId } from "../../../src/snowflake/parse.ts";
import type { ParsedSource } from "../../../src/text/parse-source.ts";
import { readUnixTime } from "../../../src/text/find/found-time.ts";
import { bitStrip } from "../bit-strip.ts";
import { candidatesOf, errorWords } from "../error-words.ts";
import { presetTitle } from "../layout-field.ts";
import { madeBy } from "../maker-words.ts";
import type { Reading } from "../read-line.ts";
import { beginReading } from "../read-lines.ts";
import type { Change, State } from "../state.ts";
import type { Texts } from "../texts/en.ts";
import { clockWords, dayWords, isoDay, msOf, ownZone, spanBetween, timeWords } from "../time-words.ts";
import { copyCard } from "./copy-rows.ts";
import { foundPart, listPart } from "./later-parts.ts";
import { layoutCard, readBy } from "./layout-card.ts";
import { readShown } from "./read-shown.ts";
import type { TextId } from "./text-ids.ts";
import { timeRows } from "./time-rows.ts";

type Refused = Extract<Reading<ParsedSource>, { readonly kind: "refused" }>;

const dayMs = 86_400_000;

/** Draws all that the chosen ID of the text says; of a text without one, why it holds none. */
export function answer(
  state: State,
  change: Change,
  texts: Texts,
  ids: readonly TextId[],
): TemplateResult | typeof nothing {
  const shown = ids[Math.min(state.parse.at, ids.length - 1)];
  if (shown === undefined) return nothing;
  const reading = readShown(state, shown);
  if (reading.kind === "refused") return refusal(state, change, texts, { reading, shown });
  const { source } = reading;
  const { parsed } = source;
  if (parsed === undefined) return stranger(state, change, texts, { source, shown });
  const later = listPart(change);
  const found = foundPart(change);
  return html`<div class="answers">
    <section class="panel answer" aria-label=${texts.parse.result} aria-live="polite">
      ${hero(state, texts, parsed.createTimeNs, parsed.layout.tickNs, madeBy(parsed, texts))}
      ${notes(state, change, texts, { source, shown })}
      ${bitStrip({
        parsed,
        field: state.parse.field,
        onPoint: (field) => change((state) => ({ ...state, parse: { ...state.parse, field } })),
        texts,
      })}
      ${partsOf(parsed, texts)}
    </section>
    <div class="cards">
      ${copyCard(state, change, texts, {
        id: "times",
        title: texts.parse.times.title,
        rows: [
          ...timeRows(parsed.createTimeNs, texts),
          { key: "since-epoch", label: texts.parse.times.sinceEpoch, text: String(parsed.ticks) },
        ],
      })}
      ${everyForm(state, change, texts, source)} ${layoutCard(state, change, texts, { parsed, shown })}
      ${later?.rangeCard(state, change, texts, parsed)} ${found?.differenceCard(state, change, texts, { parsed, ids })}
      ${source.uuid === undefined ? nothing : html`<section class="panel card pad">${found?.strangerParts(state, change, texts, { text: shown.text, source })}</section>`}
    </div>
  </div>`;
}

/** What the search found out beside the ID: lost digits, zeros before it; then what speaks against the layout. */
function notes(
  state: State,
  change: Change,
  texts: Texts,
  { source, shown }: { readonly source: ParsedSource; readonly shown: TextId },
): TemplateResult {
  const { parse } = texts;
  const { parsed, plausibleLayouts } = source;
  const time = /^\d+$/.test(shown.text) ? readUnixTime(shown.text, state.nowMs) : undefined;
  const isTime = time !== undefined && time.unit !== "ns";
  const [likelier] = plausibleLayouts;
  const isFuture = Number((parsed?.createTimeNs ?? 0n) / 1_000_000n) > state.nowMs + dayMs;
  const endMs = parsed?.layout.endMs ?? Number.POSITIVE_INFINITY;
  return html`${(shown.find?.notes ?? []).map((note) => html`<p class="note-line">${parse.notes[note]}</p>`)}
  ${isTime ? html`<p class="note-line">${parse.unixTime(isoTime(time.unixNs))}</p>` : nothing}
  ${
    !isFuture || likelier === undefined
      ? nothing
      : html`<p class="note-line">
        ${parse.notYet}
        <button type="button" class="link" @click=${() => readBy(change, likelier.name)}>
          ${parse.readAs(presetTitle(likelier.name))}
        </button>
      </p>`
  }
  ${endMs < state.nowMs ? html`<p class="note-line">${parse.ended(isoDay(endMs))}</p>` : nothing}`;
}

function isoTime(unixNs: bigint): string {
  return new Date(msOf(unixNs)).toISOString();
}

/** The time, large; then its age, the time where the reader is if that is another, and by which worker. */
function hero(state: State, texts: Texts, timeNs: bigint, tickNs: number, maker: string): TemplateResult {
  const { parse, locale } = texts;
  const ms = msOf(timeNs);
  const zone = ownZone();
  const span = spanBetween(ms, state.nowMs);
  const day = dayWords(ms, locale);
  const ownDay = dayWords(ms, locale, zone);
  const digits = tickNs >= 1e9 ? 0 : 3;
  const clock = clockWords(ms, digits, zone);
  const isUtc = ownDay === day && clock === clockWords(ms, digits, "UTC");
  const here = isUtc ? nothing : html` · <b>${ownDay === day ? "" : `${ownDay}, `}${clock}</b> ${parse.local(zone)}`;
  const time = timeWords(timeNs, tickNs, locale).slice(day.length);
  return html`<p class="when">
    ${day}<span>${time}</span>
    <small
      >${parse.utc}, ${ms > state.nowMs ? parse.inFuture(span) : parse.ago(span)}${here}${maker === "" ? "" : ` · ${maker}`}</small
    >
  </p>`;
}

function part(kind: string, name: string, value: number | undefined): TemplateResult | typeof nothing {
  return value === undefined ? nothing : html`<div class=${kind}><dt>${name}</dt><dd>${value}</dd></div>`;
}

function partsOf(parsed: ParsedId, texts: Texts): TemplateResult {
  const { parse } = texts;
  const nameOf = (kind: "datacenter" | "worker" | "sequence"): string =>
    makersFieldName(parsed.layout.name, kind) ?? parse[kind];
  return html`<dl class="parts">
    ${part("timestamp", parse.ticks(parse.tickUnits(parsed.layout.tickNs)), parsed.ticks)}
    ${part("datacenter", nameOf("datacenter"), parsed.datacenterId)}
    ${part("worker", nameOf("worker"), parsed.workerId)} ${part("sequence", nameOf("sequence"), parsed.sequence)}
  </dl>`;
}

function everyForm(state: State, change: Change, texts: Texts, source: ParsedSource): TemplateResult {
  return copyCard(state, change, texts, {
    id: "every-form",
    title: texts.parse.everyForm,
    rows: source.texts.map(({ format, text }) => ({ key: format.form, label: texts.forms[format.form], text })),
  });
}

/** A text that holds no ID of ours: a UUID, or what another generator wrote. */
function stranger(
  state: State,
  change: Change,
  texts: Texts,
  { source, shown }: { readonly source: ParsedSource; readonly shown: TextId },
): TemplateResult {
  const time = source.uuid?.createTimeNs ?? source.foreign?.createTimeNs;
  return html`<div class="answers">
    <section class="panel answer" aria-label=${texts.parse.result} aria-live="polite">
      ${time === undefined ? nothing : hero(state, texts, time, 1e6, "")}
      ${foundPart(change)?.strangerParts(state, change, texts, { text: shown.text, source })}
    </section>
    ${
      time === undefined
        ? nothing
        : html`<div class="cards">
          ${copyCard(state, change, texts, { id: "times", title: texts.parse.times.title, rows: timeRows(time, texts) })}
        </div>`
    }
  </div>`;
}

function refusal(
  state: State,
  change: Change,
  texts: Texts,
  { reading: { error, line }, shown }: { readonly reading: Refused; readonly shown: TextId },
): TemplateResult {
  const { parse } = texts;
  const [time] = state.parse.found?.times ?? [];
  const candidates = error.reason === "AMBIGUOUS_TEXT" ? candidatesOf(error.metadata) : [];
  const number = shown.find?.kind === "unsigned" ? BigInt.asUintN(64, BigInt(shown.text)) : undefined;
  return html`<div class="answers">
    <section class="panel pad refusal" aria-label=${parse.result} aria-live="polite">
      <h2>${parse.refused}</h2>
      <p class="error">${errorWords(error, texts, line)}</p>
      ${shown.find === undefined ? html`<p class="note">${parse.lookedFor}</p>` : nothing}
      ${(shown.find?.notes ?? []).map((note) => html`<p class="note-line">${parse.notes[note]}</p>`)}
      ${time === undefined ? nothing : html`<p class="note">${parse.holdsTime(isoTime(time.unixNs))}</p>`}
      ${
        candidates.length === 0
          ? nothing
          : html`<div class="row">
            ${candidates.map(
              (form) =>
                html`<button type="button" @click=${() => readIn(change, form)}>${parse.readAs(texts.forms[form])}</button>`,
            )}
          </div>`
      }
    </section>
    ${time === undefined && number === undefined ? nothing : html`<div class="cards">${otherReadings(state, change, texts, { time, number })}</div>`}
  </div>`;
}

/** A time that was found in place of an ID, and a number whose bit 63 is set: both can be taken along. */
function otherReadings(
  state: State,
  change: Change,
  texts: Texts,
  { time, number }: { readonly time: { readonly unixNs: bigint } | undefined; readonly number: bigint | undefined },
): TemplateResult {
  const { parse } = texts;
  const card = (id: string, title: string, rows: Parameters<typeof copyCard>[3]["rows"]): TemplateResult =>
    copyCard(state, change, texts, { id, title, rows });
  return html`${time === undefined ? nothing : card("times", parse.times.title, timeRows(time.unixNs, texts))}
  ${
    number === undefined
      ? nothing
      : card("number", parse.sixtyFourBits.title, [
          { key: "signed", label: parse.sixtyFourBits.signed, text: String(BigInt.asIntN(64, number)) },
          { key: "unsigned", label: parse.sixtyFourBits.unsigned, text: String(number) },
          { key: "hex", label: texts.forms.hex, text: `0x${number.toString(16).padStart(16, "0")}` },
        ])
  }`;
}

function readIn(change: Change, form: State["parse"]["form"]): void {
  change((state) => ({ ...state, parse: { ...state.parse, form } }));
  beginReading(change);
}
