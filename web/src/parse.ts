import { html, nothing, type TemplateResult } from "lit-html";
import { makersFieldName } from "../../src/snowflake/field-names.ts";
import type { PlausibleLayout } from "../../src/snowflake/layout-guess.ts";
import type { ParsedId } from "../../src/snowflake/parse.ts";
import type { ParsedSource } from "../../src/text/parse-source.ts";
import { readUnixTime } from "../../src/text/find/found-time.ts";
import { type TextForm, textForms } from "../../src/text/text-form.ts";
import { bitStrip } from "./bit-strip.ts";
import { copyButton } from "./copy-button.ts";
import { candidatesOf, errorWords } from "./error-words.ts";
import { chosenLayout, layoutDetail, layoutDetailButton, layoutField, presetTitle } from "./layout-field.ts";
import { firstChoice } from "./layout-choice.ts";
import { madeBy } from "./maker-words.ts";
import { lineLengthMax, linesMax, linesOf, type Reading, readLine } from "./read-line.ts";
import { beginReading } from "./read-lines.ts";
import { lineTable } from "./line-table.ts";
import { writeLink } from "./route.ts";
import type { Change, State } from "./state.ts";
import { choiceField } from "./text-field.ts";
import type { Texts } from "./texts/en.ts";
import { clockWords, dayWords, isoDay, msOf, ownZone, spanBetween, timeWords } from "./time-words.ts";

/** Shown while there is nothing to read: a post of 2022 and the message of Discord's own documentation. */
const examples = [
  { text: "1541815603606036480", layout: "twitter" },
  { text: "175928847299117063", layout: "discord" },
] as const;

type Read = Extract<Reading<ParsedSource>, { readonly kind: "read" }>;
type Refused = Extract<Reading<ParsedSource>, { readonly kind: "refused" }>;

const dayMs = 86_400_000;

/** A browser takes seconds to lay out a text field of thousands of lines: it shows only the first of so many. */
const editedLinesMax = 500;
const shownLinesMax = 200;

/** The view that reads IDs. */
export function parseView(state: State, change: Change, texts: Texts): TemplateResult {
  const words = texts.parse;
  const { text, leftOutCount, lines } = state.parse;
  const isLong = lines !== undefined && lines.count > editedLinesMax;
  const shownText = isLong ? linesOf(text).lines.slice(0, shownLinesMax).join("\n") : text;
  return html`<h1>${words.heading}</h1>
    <p class="lead">${words.lead}</p>
    <div class="field">
      <label for="ids">${words.ids}</label>
      <textarea
        id="ids"
        rows=${lines === undefined ? 1 : 6}
        spellcheck="false"
        autocomplete="off"
        placeholder=${words.placeholder}
        .value=${shownText}
        ?readonly=${isLong}
        @input=${(event: Event) => setText(change, (event.target as HTMLTextAreaElement).value)}
        @paste=${(event: ClipboardEvent) => pasteInto(change, event)}
      ></textarea>
      ${leftOutCount === 0 ? nothing : html`<p class="hint" role="status">${words.leftOut(linesMax, leftOutCount)}</p>`}
      ${
        isLong
          ? html`<p class="hint">
            ${words.shortened(shownLinesMax)}
            <button type="button" class="link" @click=${() => setText(change, "")}>${words.clear}</button>
          </p>`
          : nothing
      }
    </div>
    <div class="row controls">
      ${layoutField(state, readAgain(change), texts)}
      ${choiceField({
        id: "form",
        label: words.form,
        value: state.parse.form ?? "",
        options: [["", words.detect], ...textForms.map((form) => [form, texts.forms[form]] as const)],
        onChange: (value) =>
          setForm(
            change,
            textForms.find((form) => form === value),
          ),
      })}
      ${layoutDetailButton(state, change, texts)}
      ${copyButton(state, change, texts, {
        key: "link",
        label: words.copyLink,
        text: () => location.origin + location.pathname + writeLink(text.trim(), chosenLayout(state).layout),
      })}
    </div>
    ${layoutDetail(state, readAgain(change), texts)} ${answer(state, change, texts)}`;
}

/** Takes a text as if it had been typed. */
export function setText(change: Change, text: string, leftOutCount = 0): void {
  change((state) => ({ ...state, link: "fine", parse: { ...state.parse, text, leftOutCount, field: undefined } }));
  beginReading(change);
}

/** Takes pasted text; of a text of more lines than are read, only the first: a hundred megabytes cost nothing. */
export function pasteInto(change: Change, event: ClipboardEvent): void {
  const pasted = event.clipboardData?.getData("text/plain") ?? "";
  const field = event.target instanceof HTMLTextAreaElement ? event.target : undefined;
  const { lines, leftOutCount } = linesOf(pasted);
  const isShort = lines.length <= editedLinesMax && pasted.length <= editedLinesMax * lineLengthMax;
  if (field !== undefined && !field.readOnly && isShort) return;
  event.preventDefault();
  setText(change, lines.join("\n"), leftOutCount);
}

function setForm(change: Change, form: TextForm | undefined): void {
  change((state) => ({ ...state, parse: { ...state.parse, form } }));
  beginReading(change);
}

/** A change of the layout changes every reading. */
function readAgain(change: Change): Change {
  return (next) => {
    change(next);
    beginReading(change);
  };
}

function answer(state: State, change: Change, texts: Texts): TemplateResult {
  const { text, form, lines, found } = state.parse;
  if (lines !== undefined) return lineTable(lines, texts);
  const [line] = linesOf(text).lines;
  if (line === undefined) return noLine(change, texts);
  const reading = readLine(found?.text === line ? found.texts[0]! : line, {
    layout: chosenLayout(state).layout,
    form,
    nowMs: state.nowMs,
  });
  if (reading.kind === "refused") return refusal(change, texts, reading);
  return card(state, change, texts, reading);
}

function noLine(change: Change, texts: Texts): TemplateResult {
  const show = ({ text, layout }: (typeof examples)[number]): void => {
    change((state) => ({ ...state, layout: { ...firstChoice, name: layout } }));
    setText(change, text);
  };
  return html`<section class="panel pad empty" aria-label=${texts.parse.examples}>
    <p class="note">${texts.parse.empty}</p>
    <div class="row">
      ${examples.map(
        (example) =>
          html`<button type="button" @click=${() => show(example)}>
            ${presetTitle(example.layout)} <code>${example.text}</code>
          </button>`,
      )}
    </div>
  </section>`;
}

function refusal(change: Change, texts: Texts, { error, line }: Refused): TemplateResult {
  const candidates = error.reason === "AMBIGUOUS_TEXT" ? candidatesOf(error.metadata) : [];
  return html`<section class="panel pad refusal" aria-label=${texts.parse.result} aria-live="polite">
    <h2>${texts.parse.refused}</h2>
    <p class="error">${errorWords(error, texts, line)}</p>
    ${
      candidates.length === 0
        ? nothing
        : html`<div class="row">
          ${candidates.map(
            (form) =>
              html`<button type="button" @click=${() => setForm(change, form)}>
                ${texts.parse.readAs(texts.forms[form])}
              </button>`,
          )}
        </div>`
    }
  </section>`;
}

function card(state: State, change: Change, texts: Texts, { source, line }: Read): TemplateResult {
  const { parsed, uuid, foreign } = source;
  if (parsed === undefined) return stranger(state, texts, source);
  return html`<section class="panel answer" aria-label=${texts.parse.result} aria-live="polite">
      ${hero(state, texts, parsed.createTimeNs, parsed.layout.tickNs, madeBy(parsed, texts))}
      ${bitStrip({
        parsed,
        field: state.parse.field,
        onPoint: (field) => change((state) => ({ ...state, parse: { ...state.parse, field } })),
        texts,
      })}
      ${partsOf(parsed, texts)} ${doubts(state, change, texts, { source, line })}
    </section>
    <div class="cols">
      ${everyForm(state, change, texts, source)}
      <div class="stack">
        ${others(state, change, texts, source.plausibleLayouts)}
        ${uuid === undefined && foreign === undefined ? nothing : uuidPanel(texts, source)}
      </div>
    </div>`;
}

/** A Unix time, and a time that no ID of the layout can have yet: each is said, with the likelier reading. */
function doubts(state: State, change: Change, texts: Texts, { source, line }: Omit<Read, "kind">): TemplateResult {
  const { parse } = texts;
  const { layout } = chosenLayout(state);
  const time = /^\d+$/.test(line) ? readUnixTime(line, state.nowMs) : undefined;
  const [likelier] = source.plausibleLayouts;
  const isFuture = Number((source.parsed?.createTimeNs ?? 0n) / 1_000_000n) > state.nowMs + dayMs;
  return html`${time === undefined || time.unit === "ns" ? nothing : html`<p class="note">${parse.unixTime(isoTime(time.unixNs))}</p>`}
  ${
    !isFuture || likelier === undefined
      ? nothing
      : html`<p class="note">
        ${parse.notYet}
        <button type="button" class="link" @click=${() => readBy(change, likelier.name)}>
          ${parse.readAs(presetTitle(likelier.name))}
        </button>
      </p>`
  }
  ${layout.endMs < state.nowMs ? html`<p class="note">${parse.ended(isoDay(layout.endMs))}</p>` : nothing}`;
}

function isoTime(unixNs: bigint): string {
  return new Date(msOf(unixNs)).toISOString();
}

function readBy(change: Change, name: PlausibleLayout["name"]): void {
  change((state) => ({ ...state, layout: { ...firstChoice, name } }));
  beginReading(change);
}

/** The time, large; then its age, the time where the reader is, and by which worker. */
function hero(state: State, texts: Texts, timeNs: bigint, tickNs: number, maker: string): TemplateResult {
  const { parse, locale } = texts;
  const ms = msOf(timeNs);
  const zone = ownZone();
  const span = spanBetween(ms, state.nowMs);
  const here = dayWords(ms, locale, zone) === dayWords(ms, locale) ? "" : `${dayWords(ms, locale, zone)}, `;
  const digits = tickNs >= 1e9 ? 0 : 3;
  return html`<p class="when">
    ${timeWords(timeNs, tickNs, locale)}
    <small
      >${parse.utc}, ${ms > state.nowMs ? parse.inFuture(span) : parse.ago(span)} ·
      <b>${here}${clockWords(ms, digits, zone)}</b> ${parse.local(zone)}${maker === "" ? "" : ` · ${maker}`}</small
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
  const { parse, forms } = texts;
  return html`<section class="panel pad" aria-labelledby="every-form">
    <h2 id="every-form">${parse.everyForm}</h2>
    <table>
      <tbody>
        ${source.texts.map(
          ({ format, text }) =>
            html`<tr>
              <th scope="row">${forms[format.form]}</th>
              <td class="v">${text}</td>
              <td>
                ${copyButton(state, change, texts, {
                  key: format.form,
                  label: texts.copy.copy,
                  name: parse.copyForm(forms[format.form]),
                  text: () => text,
                })}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}

function others(state: State, change: Change, texts: Texts, plausible: readonly PlausibleLayout[]): TemplateResult {
  const { parse } = texts;
  const own = chosenLayout(state).layout.name;
  return html`<section class="panel pad" aria-labelledby="others">
    <h2 id="others">${parse.others}</h2>
    ${
      plausible.length === 0
        ? html`<p class="note">${parse.noOthers}</p>`
        : html`<table>
            <tbody>
              ${plausible.map(
                ({ name, createTimeMs }) =>
                  html`<tr>
                    <th scope="row">
                      <button
                        type="button"
                        class="link"
                        aria-label=${parse.readAs(presetTitle(name))}
                        aria-current=${name === own ? "true" : nothing}
                        @click=${() => readBy(change, name)}
                      >
                        ${presetTitle(name)}
                      </button>
                    </th>
                    <td class="day">${isoDay(createTimeMs)}</td>
                  </tr>`,
              )}
            </tbody>
          </table>
          <p class="note">${parse.othersNote}</p>`
    }
  </section>`;
}

/** A text that holds no ID of ours: a UUID, or what another generator wrote. */
function stranger(state: State, texts: Texts, source: ParsedSource): TemplateResult {
  const time = source.uuid?.createTimeNs ?? source.foreign?.createTimeNs;
  return html`<section class="panel answer" aria-label=${texts.parse.result} aria-live="polite">
    ${time === undefined ? nothing : hero(state, texts, time, 1e6, "")} ${strangerParts(texts, source)}
  </section>`;
}

function uuidPanel(texts: Texts, source: ParsedSource): TemplateResult {
  return html`<section class="panel pad">${strangerParts(texts, source)}</section>`;
}

function strangerParts(texts: Texts, { uuid, foreign, parsed }: ParsedSource): TemplateResult {
  const words = texts.parse;
  const rows: (readonly [string, string])[] = [];
  if (uuid !== undefined) rows.push([words.uuid.variant, uuid.variant]);
  if (uuid?.clockSequence !== undefined) rows.push([words.uuid.clockSequence, String(uuid.clockSequence)]);
  if (uuid?.node !== undefined) rows.push([words.uuid.node, uuid.node]);
  rows.push(...Object.entries(foreign?.parts ?? {}));
  const time = uuid?.createTimeNs ?? foreign?.createTimeNs;
  const note = [
    uuid !== undefined && parsed === undefined ? words.uuid.none : "",
    foreign === undefined ? "" : words.foreign.note,
    time === undefined ? words.uuid.noTime : "",
  ];
  return html`<div>
    <h2>${uuid === undefined ? words.foreign.title(foreign?.kind ?? "") : words.uuid.title(uuid.version)}</h2>
    <p class="note">${note.filter((text) => text !== "").join(" ")}</p>
    <table>
      <tbody>
        ${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td class="v">${value}</td></tr>`)}
      </tbody>
    </table>
  </div>`;
}
