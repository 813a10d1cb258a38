import { html, nothing, type TemplateResult } from "lit-html";
import { text as goProgram } from "../samples/snowflake_id.go?text";
import { text as javaProgram } from "../samples/SnowflakeId.java?text";
import { text as javascriptProgram } from "../samples/snowflake-id.mjs?text";
import { text as phpProgram } from "../samples/snowflake_id.php?text";
import { text as csharpProgram } from "../samples/SnowflakeId.cs?text";
import { text as rustProgram } from "../samples/snowflake_id.rs?text";
import { text as pythonProgram } from "../samples/snowflake_id.py?text";
import { text as rubyProgram } from "../samples/snowflake_id.rb?text";
import { exhaustionOf } from "../../src/snowflake/exhaustion.ts";
import { composeId, type Layout, type LayoutFieldKind, msToTicksDown } from "../../src/snowflake/layout.ts";
import { type ParsedId, parseId } from "../../src/snowflake/parse.ts";
import { bitStrip } from "./bit-strip.ts";
import { copyButton } from "./copy-button.ts";
import { chosenLayout, layoutDetail, layoutDetailButton, layoutField } from "./layout-field.ts";
import { type SampleLanguage, sampleFiles, sampleLanguages, writeSample } from "./layout-samples.ts";
import { linesOf, readLine } from "./read-line.ts";
import type { Change, State } from "./state.ts";
import { choiceField } from "./text-field.ts";
import type { Texts } from "./texts/en.ts";
import { isoDay, timeWords } from "./time-words.ts";

const programs: Readonly<Record<SampleLanguage, string>> = {
  javascript: javascriptProgram,
  python: pythonProgram,
  java: javaProgram,
  go: goProgram,
  ruby: rubyProgram,
  php: phpProgram,
  csharp: csharpProgram,
  rust: rustProgram,
};

const references = [
  ["https://blog.x.com/engineering/en_us/a/2010/announcing-snowflake", "announcement"],
  ["https://github.com/twitter-archive/snowflake/tree/snowflake-2010", "source"],
  ["https://discord.com/developers/docs/reference#snowflakes", "discord"],
  ["https://instagram-engineering.com/sharding-ids-at-instagram-1cf5a71e5a5c", "instagram"],
  ["https://www.rfc-editor.org/rfc/rfc9562", "uuid"],
] as const;

/** The view that explains a layout on the reader's own ID. */
export function learnView(state: State, change: Change, texts: Texts): TemplateResult {
  const { layout } = chosenLayout(state);
  const parsed = idAtHand(state, layout);
  return html`<div class="with-contents">
    ${contents(texts)}
    <div>${sections(state, change, texts, { layout, parsed })}</div>
  </div>`;
}

/** The titles of the sections by the id of each, in their order. */
function titlesOf({ learn }: Texts): readonly (readonly [id: string, title: string])[] {
  return [
    ["parts", learn.bits],
    ["steps", learn.steps],
    ["calculator", learn.calculator],
    ["program", learn.programs],
    ["uses", learn.uses.title],
    ["limits", learn.limits.title],
    ["edges", learn.edges.title],
    ["alternatives", learn.alternatives.title],
    ["history", learn.history.title],
    ["references", learn.references.title],
  ];
}

/** The sections as links, beside them where there is room. */
function contents(texts: Texts): TemplateResult {
  return html`<nav class="contents" aria-label=${texts.learn.contents}>
    ${titlesOf(texts).map(([id, title]) => html`<a href="#/learn" @click=${(event: Event) => goTo(event, id)}>${title}</a>`)}
  </nav>`;
}

/** Following the link would change the route, which is behind the same sign. */
function goTo(event: Event, id: string): void {
  event.preventDefault();
  const heading = document.getElementById(id);
  if (heading === null) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  heading.scrollIntoView();
}

function sections(
  state: State,
  change: Change,
  texts: Texts,
  { layout, parsed }: { readonly layout: Layout; readonly parsed: ParsedId },
): TemplateResult {
  const words = texts.learn;
  return html`<h1>${words.heading}</h1>
    <p class="lead">${words.lead}</p>
    <div class="row controls">${layoutField(state, change, texts)} ${layoutDetailButton(state, change, texts)}</div>
    ${layoutDetail(state, change, texts)}
    <section class="panel answer" aria-labelledby="parts">
      <h2 id="parts" class="id">${words.parts} <code>${parsed.id}</code></h2>
      ${bitStrip({
        parsed,
        field: state.parse.field,
        onPoint: (field) => change((state) => ({ ...state, parse: { ...state.parse, field } })),
        texts,
        positions: "shown",
      })}
      ${fieldList(parsed, texts)}
    </section>
    <div class="cols even">${steps(parsed, texts)} ${calculator(state, layout, texts)}</div>
    ${program(state, change, texts, layout)}
    ${prose("uses", words.uses, "wide")}
    <div class="cols even">
      ${prose("limits", words.limits)} ${prose("edges", words.edges)}
    </div>
    ${alternatives(texts)}
    <div class="cols even">${prose("history", words.history)} ${links(texts)}</div>`;
}

/** The first ID of Parse where the layout reads it; otherwise one of this moment, or of the layout's last. */
function idAtHand(state: State, layout: Layout): ParsedId {
  const [line] = linesOf(state.parse.text).lines;
  const reading =
    line === undefined ? undefined : readLine(line, { layout, form: state.parse.form, nowMs: state.nowMs });
  if (reading?.kind === "read" && reading.source.parsed !== undefined) return reading.source.parsed;
  // Whole minutes, so that the example stays the same while it is read.
  const now = msToTicksDown(layout, Math.floor(state.nowMs / 60_000) * 60_000);
  const ticks = Math.min(Math.max(now, 0), layout.timestamp.max);
  const parts = {
    ticks,
    datacenterId: Math.min(layout.datacenter.max, 11),
    workerId: Math.min(layout.worker.max, 26),
    sequence: Math.min(layout.sequence.max, 42),
  };
  return parseId(layout, composeId(layout, parts));
}

/** The fields of an ID with their values, from the highest bit down. */
function valuesOf(
  parsed: ParsedId,
): readonly { readonly kind: LayoutFieldKind; readonly value: number; readonly shift: number }[] {
  const { layout, ticks, datacenterId = 0, workerId = 0, sequence = 0 } = parsed;
  const values = { timestamp: ticks, datacenter: datacenterId, worker: workerId, sequence };
  return layout.fields.map(({ kind }) => ({ kind, value: values[kind], shift: layout[kind].shift }));
}

function fieldList(parsed: ParsedId, texts: Texts): TemplateResult {
  const { learn, fields, locale } = texts;
  const time = timeWords(parsed.createTimeNs, parsed.layout.tickNs, locale);
  return html`<dl class="explained">
    ${valuesOf(parsed).map(
      ({ kind, value }) =>
        html`<div class=${kind}>
          <dt>${fields[kind]} <b>${value}</b></dt>
          <dd>${kind === "timestamp" ? learn.time(time, isoDay(parsed.layout.epochMs)) : learn.fieldTexts[kind]}</dd>
        </div>`,
    )}
  </dl>`;
}

function steps(parsed: ParsedId, texts: Texts): TemplateResult {
  const { learn, fields } = texts;
  const values = valuesOf(parsed);
  const formula = values.map(({ kind, shift }) => (shift === 0 ? fields[kind] : `${fields[kind]} << ${shift}`));
  return html`<section class="panel pad" aria-labelledby="steps">
    <h2 id="steps">${learn.steps}</h2>
    <p class="formula"><code>ID = ${formula.join(" | ")}</code></p>
    <table>
      <tbody>
        ${values.map(
          ({ kind, value, shift }) =>
            html`<tr>
              <th scope="row">${fields[kind]}</th>
              <td class="v">${value}${shift === 0 ? "" : ` × 2^${shift}`}</td>
              <td class="v">${BigInt(value) << BigInt(shift)}</td>
            </tr>`,
        )}
        <tr class="sum">
          <th scope="row">${learn.sum}</th>
          <td></td>
          <td class="v">${parsed.id}</td>
        </tr>
      </tbody>
    </table>
  </section>`;
}

function calculator(state: State, layout: Layout, texts: Texts): TemplateResult {
  const { learn, number } = texts;
  const { endTime, yearsLeft } = exhaustionOf(layout, state.nowMs);
  const perTick = layout.sequence.max + 1;
  const perSecond = Math.floor(perTick * (1e9 / layout.tickNs));
  const rows = [
    [learn.until, endTime.slice(0, 10)],
    [learn.yearsLeft, number(Math.max(0, Math.floor(yearsLeft)))],
    [learn.workerIds, number(layout.workerCount)],
    [learn.perWorker, number(perSecond)],
    [learn.all, number(perSecond * layout.workerCount)],
    [learn.highest, String(2n ** BigInt(layout.bits) - 1n)],
  ];
  return html`<section class="panel pad" aria-labelledby="calculator">
    <h2 id="calculator">${learn.calculator}</h2>
    <table>
      <tbody>
        ${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td class="v">${value}</td></tr>`)}
      </tbody>
    </table>
    <p class="note">${learn.calculatorNote}</p>
  </section>`;
}

function program(state: State, change: Change, texts: Texts, layout: Layout): TemplateResult {
  const { learn, copy, generate } = texts;
  const { sampleLanguage } = state;
  const code = writeSample(programs[sampleLanguage], layout);
  return html`<section class="panel pad code wide" aria-labelledby="program">
    <h2 id="program">${learn.program}</h2>
    <p class="note">${learn.programNote}</p>
    <div class="row controls">
      ${choiceField({
        id: "sample",
        label: generate.language,
        value: sampleLanguage,
        options: sampleLanguages.map((name) => [name, sampleFiles[name][0]]),
        onChange: (value) =>
          change((state) => ({
            ...state,
            sampleLanguage: sampleLanguages.find((name) => name === value) ?? "javascript",
          })),
      })}
      ${copyButton(state, change, texts, { key: "program", label: copy.copy, name: generate.copyCode, text: () => code })}
    </div>
    <pre tabindex="0" role="group" aria-label=${learn.program}><code>${code}</code></pre>
    <div class="prose">${paragraphs(learn.programTexts)}</div>
  </section>`;
}

/** A section of text. */
interface Prose {
  readonly title: string;
  readonly texts: readonly (readonly string[])[];
}

function prose(id: string, { title, texts }: Prose, width: "wide" | "" = ""): TemplateResult {
  return html`<section class="panel pad prose ${width}" aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${paragraphs(texts)}
  </section>`;
}

function paragraphs(texts: readonly (readonly string[])[]): readonly TemplateResult[] {
  return texts.map(([head, text]) => html`<p><b>${head}</b> ${text}</p>`);
}

function alternatives({ learn }: Texts): TemplateResult {
  const { title, columns, rows } = learn.alternatives;
  return html`<section class="panel pad wide" aria-labelledby="alternatives">
    <h2 id="alternatives">${title}</h2>
    <div class="scroll" tabindex="0" role="group" aria-label=${title}>
      <table>
        <thead>
          <tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr>
        </thead>
        <tbody>
          ${rows.map(
            ([name, ...cells]) =>
              html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

function links({ learn }: Texts): TemplateResult {
  return html`<section class="panel pad prose" aria-labelledby="references">
    <h2 id="references">${learn.references.title}</h2>
    <ul>
      ${references.map(
        ([url, key]) => html`<li><a href=${url} rel="noreferrer">${learn.references[key] ?? nothing}</a></li>`,
      )}
    </ul>
  </section>`;
}
