import { html, nothing, type TemplateResult } from "lit-html";
import type { Layout } from "../../src/snowflake/layout.ts";
import { type TextForm, type TextFormat, textForms } from "../../src/text/text-form.ts";
import { copyButton } from "./copy-button.ts";
import { download } from "./download.ts";
import { readCount, readFormat } from "./format-choice.ts";
import { askForUuid, cancelJob, countMax, runJob, shownMax } from "./generate-job.ts";
import { handCountMax, type HandIds, type HandParts, makeHandIds } from "./hand-ids.ts";
import { lazyPart } from "./lazy-part.ts";
import { chosenLayout, layoutDetail, layoutDetailButton, layoutField, presetTitle } from "./layout-field.ts";
import { codecOf } from "./layout-choice.ts";
import { pageBase } from "./page-base.ts";
import { idRows, readAll, shownIds } from "./shown-ids.ts";
import type { Change, FormatChoice, GenerateState, Job, State } from "./state.ts";
import { choiceField, switchButtons, textField } from "./text-field.ts";
import type { Texts } from "./texts/en.ts";
import { isoDay } from "./time-words.ts";

/** The same from code, which not everybody wants at once. */
const code = lazyPart(() => import("./code.ts"));

const patch = (change: Change, parts: Partial<GenerateState>): void =>
  change((state) => ({ ...state, generate: { ...state.generate, ...parts } }));

/** The view that makes IDs. */
export function generateView(state: State, change: Change, texts: Texts, prompt: () => TemplateResult): TemplateResult {
  const words = texts.generate;
  const { source } = state.generate;
  const choose = (value: string): void =>
    patch(change, { source: value === "hand" ? "hand" : "server", handNowMs: Date.now(), field: undefined });
  return html`<div class="view-head">
      <div>
        <h1>${words.heading}</h1>
        <p class="lead">${words.lead[source]}</p>
      </div>
      ${switchButtons({
        label: words.source,
        value: source,
        options: [
          ["server", words.fromServer],
          ["hand", words.byHand],
        ],
        disabled: state.server.kind === "none" ? "server" : undefined,
        onChange: choose,
      })}
    </div>
    ${state.server.kind === "none" ? html`<p class="note lone">${words.noServer}</p>` : nothing}
    ${source === "server" ? html`${prompt()}${fromServer(state, change, texts)}` : byHand(state, change, texts)}`;
}

function fromServer(state: State, change: Change, texts: Texts): TemplateResult {
  const words = texts.generate;
  const { count, format, job } = state.generate;
  const most = Math.min(countMax, state.server.info?.batchCountMax ?? countMax);
  const wanted = readCount(count);
  const isCount = wanted !== undefined && wanted >= 1 && wanted <= most;
  const read = readFormat(format);
  const isRight = isCount && read.kind === "format";
  // A button that is disabled loses the focus, and Enter would not repeat.
  const isRunning = job.kind === "running";
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isRight && !isRunning) void runJob(change, wanted, read.format);
  };
  return html`<div class="cols first">
    <div class="stack">
      <form class="panel pad" @submit=${submit} novalidate>
        <div class="row controls">
          ${textField({
            id: "count",
            label: words.count,
            value: count,
            inputMode: "numeric",
            error: isCount ? undefined : words.countProblem(most),
            onInput: (value) => patch(change, { count: value }),
          })}
          ${formFields(state, change, texts)}
          <button type="submit" class="primary" ?disabled=${!isRight} aria-disabled=${isRunning ? "true" : nothing}>
            ${words.generate}
          </button>
          ${isRunning ? html`<button type="button" @click=${cancelJob}>${words.cancel}</button>` : nothing}
        </div>
        <div class="outcome" aria-live="polite">${outcome(texts, job)}</div>
      </form>
      ${job.kind === "shown" ? shownJob(state, change, texts, job) : nothing} ${earlierPanel(state, change, texts)}
    </div>
    <div class="stack">${code(change)?.callCode(state, change, texts)} ${origin(state, texts)}</div>
  </div>`;
}

function formFields(state: State, change: Change, texts: Texts): TemplateResult {
  const words = texts.generate;
  const { format } = state.generate;
  const read = readFormat(format);
  const wrong = read.kind === "wrong" ? read.at : undefined;
  const set = (parts: Partial<FormatChoice>): void => patch(change, { format: { ...format, ...parts } });
  const typed = (key: "serialPrefix" | "utcOffset" | "typePrefix", label: string, hint: string): TemplateResult =>
    textField({
      id: key,
      label,
      value: format[key],
      hint: wrong === key ? undefined : hint,
      error: wrong === key ? hint : undefined,
      onInput: (value) => set({ [key]: value }),
    });
  const options: Readonly<Partial<Record<TextForm, TemplateResult>>> = {
    serial: html`${typed("serialPrefix", words.serialPrefix, words.serialPrefixHint)}
    ${typed("utcOffset", words.utcOffset, words.utcOffsetProblem)}`,
    typed: typed("typePrefix", words.typePrefix, words.typePrefixHint),
    base32: html`<label class="check"
      ><input
        type="checkbox"
        .checked=${format.checkSymbol}
        @change=${(event: Event) => set({ checkSymbol: (event.target as HTMLInputElement).checked })}
      />
      ${words.checkSymbol}</label
    >`,
  };
  return html`${choiceField({
    id: "form",
    label: words.form,
    value: format.form,
    options: textForms.map((form) => [form, texts.forms[form]]),
    onChange: (value) => chooseForm(state, change, textForms.find((form) => form === value) ?? "decimal"),
  })}${options[format.form] ?? nothing}`;
}

function outcome(texts: Texts, job: Job): TemplateResult {
  const words = texts.generate;
  switch (job.kind) {
    case "idle":
      return html`<p class="note">${words.first} ${words.above(shownMax)}</p>`;
    case "running": {
      const seconds = (performance.now() - job.startedMs) / 1_000;
      return html`<progress max=${job.count} value=${job.done} aria-label=${words.result}></progress>
        <p class="note">
          ${words.progress(job.done, job.count)}${job.done === 0 ? "" : ` · ${words.rate(job.done / seconds)}`}
        </p>`;
    }
    case "failed":
      return html`<p class="error" role="alert"><b>${words.failed}.</b> ${words.failure(job.failure)}</p>`;
    case "file":
      return html`<p class="ready">${job.end === "complete" ? words.ready(job.count) : words.cancelled(job.count)}</p>
        <div class="row">
          <button type="button" @click=${() => download(job.lines, "snowlane-ids.txt")}>${words.download}</button>
        </div>
        <p class="note">${words.took(job.count, job.tookMs)}</p>`;
    case "shown":
      return html`<p class="note">${words.took(job.ids.length, job.tookMs)} ${words.above(shownMax)}</p>`;
  }
}

type ShownJob = Extract<Job, { readonly kind: "shown" }>;

/** The IDs of the last press, in the form that is chosen now: nothing is asked for again. */
function shownJob(state: State, change: Change, texts: Texts, job: ShownJob): TemplateResult {
  const layout = state.server.info?.layout;
  const lines = rewritten(state, job, layout);
  return shownIds(state, change, texts, {
    ids: job.ids,
    lines: lines ?? job.texts,
    layout,
    readBy: "server",
    note: lines === undefined ? texts.generate.uuidNote : "",
  });
}

let last: { readonly job: ShownJob; readonly key: string; readonly lines: readonly string[] } | undefined;

/** Writes IDs of the server in the form that is chosen now; undefined where the server alone knows how. */
function rewritten({ generate }: State, job: ShownJob, layout: Layout | undefined): readonly string[] | undefined {
  const read = readFormat(generate.format);
  if (read.kind === "wrong") return job.texts;
  const key = JSON.stringify(read.format);
  if (key === JSON.stringify(job.format)) return job.texts;
  if (layout === undefined || (read.format.form === "uuid" && generate.uuids !== "as-here")) return undefined;
  if (last?.job !== job || last.key !== key) last = { job, key, lines: writeAll(job.ids, layout, read.format) };
  return last.lines;
}

function chooseForm({ generate }: State, change: Change, form: TextForm): void {
  const { job, uuids, source, format } = generate;
  patch(change, { format: { ...format, form } });
  const [id] = job.kind === "shown" ? job.ids : [];
  if (form === "uuid" && source === "server" && uuids === "unknown" && id !== undefined) void askForUuid(change, id);
}

/** What came by the presses before the last. */
function earlierPanel(state: State, change: Change, texts: Texts): TemplateResult | typeof nothing {
  const { earlier } = state.generate;
  const layout = state.server.info?.layout;
  if (earlier.length === 0 || layout === undefined) return nothing;
  const words = texts.generate;
  return html`<section class="panel pad" aria-labelledby="earlier">
    <div class="row head">
      <h2 id="earlier">${words.earlier}</h2>
      ${copyButton(state, change, texts, { key: "earlier", label: words.copyAll, text: () => earlier.join("\n") })}
      <button type="button" class="ghost" @click=${() => readAll(change, earlier, "server")}>${words.readAll}</button>
    </div>
    ${idRows(earlier, earlier.map(String), layout, texts)}
  </section>`;
}

function row(name: string, value: string): TemplateResult {
  return html`<dt>${name}</dt><dd>${value}</dd>`;
}

/** Where an ID of the server comes from, and what its uniqueness rests on. */
function origin({ server: { info } }: State, texts: Texts): TemplateResult {
  const words = texts.generate;
  const { watch } = texts;
  return html`<section class="panel pad" aria-labelledby="origin">
    <h2 id="origin">${words.origin}</h2>
    <dl class="facts">
      ${row(watch.server, [new URL(pageBase).host, info?.version ?? ""].join(" ").trim())}
      ${
        info === undefined
          ? nothing
          : html`${row(watch.worker, watch.workerOf(info.datacenterId, info.workerId, info.layout.datacenter.bits > 0))}
            ${row(watch.layout, `${presetTitle(info.layout.name)}, ${watch.until(isoDay(info.exhaustionMs))}`)}`
      }
    </dl>
    <p class="note">${words.promise}</p>
  </section>`;
}

function byHand(state: State, change: Change, texts: Texts): TemplateResult {
  const words = texts.generate;
  const { hand, handNowMs, format } = state.generate;
  const { layout } = chosenLayout(state);
  const made = makeHandIds(layout, hand, handNowMs);
  const read = readFormat(format);
  const lines = read.kind === "wrong" ? [] : writeAll(made.ids, layout, read.format);
  return html`<div class="cols first">
    <div class="stack">
      <section class="panel pad" aria-label=${words.byHand}>
        <div class="row controls">${layoutField(state, change, texts)} ${layoutDetailButton(state, change, texts)}</div>
        ${layoutDetail(state, change, texts)} ${handFields(state, change, texts, { layout, made })}
      </section>
      ${
        lines.length === 0
          ? html`<p class="note" role="status">${words.fix}</p>`
          : shownIds(state, change, texts, {
              ids: made.ids,
              lines,
              layout,
              readBy: "chosen",
              note: made.ids.length === 1 ? "" : words.handCountHint,
            })
      }
    </div>
    <div class="stack">
      <p class="warning">${words.warning}</p>
      ${code(change)?.handCode(state, change, texts, { layout, id: made.ids[0] })}
    </div>
  </div>`;
}

/** The parts of an ID by hand, each with the range that the layout gives it. */
function handFields(
  state: State,
  change: Change,
  texts: Texts,
  { layout, made }: { readonly layout: Layout; readonly made: HandIds },
): TemplateResult {
  const words = texts.generate;
  const { hand } = state.generate;
  const set = (parts: Partial<HandParts>): void =>
    patch(change, { hand: { ...hand, ...parts }, handNowMs: Date.now() });
  const field = (key: keyof HandParts, label: string, hint: string): TemplateResult => {
    const problem = made.problems[key];
    return textField({
      id: key,
      label,
      value: hand[key],
      hint,
      error: problem === undefined ? undefined : words.partProblem(problem),
      inputMode: key === "time" ? "text" : "numeric",
      onInput: (value) => set({ [key]: value }),
    });
  };
  const part = (key: "datacenterId" | "workerId" | "sequence", label: string, place: { bits: number; max: number }) =>
    place.bits === 0 ? nothing : field(key, label, words.range(place.max));
  const { time } = made;
  const timeHint =
    time === undefined || time.kind === "now"
      ? words.timeHint
      : words.timeRead(time.kind, new Date(time.ms).toISOString());
  return html`<div class="grid">
    <div class="with-button">
      ${field("time", words.time, timeHint)}
      <button type="button" @click=${() => set({ time: "" })}>${words.now}</button>
    </div>
    ${part("datacenterId", texts.parse.datacenter, layout.datacenter)}
    ${part("workerId", texts.parse.worker, layout.worker)}
    ${part("sequence", texts.parse.sequence, layout.sequence)}
    ${field("count", words.count, words.range(handCountMax).replace(/^0/, "1"))} ${formFields(state, change, texts)}
  </div>`;
}

/** An ID that a form cannot write, as a UUID of a time before 1970, leaves nothing to show. */
function writeAll(ids: readonly bigint[], layout: Layout, format: TextFormat): readonly string[] {
  try {
    return ids.map(codecOf(layout).writer(format));
  } catch {
    return [];
  }
}
