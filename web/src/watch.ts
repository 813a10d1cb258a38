import { html, nothing, type TemplateResult } from "lit-html";
import { addErrorCodes } from "../../src/service/message/error-codes.ts";
import type { SecondSample } from "../../src/service/message/status-message.ts";
import {
  type ChartName,
  chartLines,
  chartNames,
  chartTop,
  chartValues,
  highestOf,
  knownValues,
  meanOfLast,
  type ToldValue,
} from "./chart-data.ts";
import type { Failure } from "./failure.ts";
import type { Change, ServerStatus, State, WorkerList } from "./state.ts";
import { switchButtons } from "./text-field.ts";
import type { Texts } from "./texts/en.ts";
import { clockWords, isoDay, ownZone, spanBetween, utcTime } from "./time-words.ts";
import { sequencePanel } from "./watch-sequences.ts";
import { hasDatacenter, workerPanel } from "./watch-workers.ts";

/** The view that shows the server, the last minutes, the worker IDs of its deployment, and its sequences. */
export function watchView(state: State, change: Change, texts: Texts, prompt: () => TemplateResult): TemplateResult {
  const words = texts.watch;
  const { status } = state.watch;
  // The prompt keeps its place, so that a field keeps what is typed into it.
  if (state.server.kind === "none") return html`<h1>${words.heading}</h1><p class="lead">${words.noServer}</p>`;
  return html`<h1>${words.heading}</h1>
    <p class="lead">${words.lead}</p>
    ${prompt()} ${state.server.kind === "closed" && status.value === undefined ? nothing : watched(state, change, texts)}`;
}

function watched(state: State, change: Change, texts: Texts): TemplateResult {
  const { list, status, sequences } = state.watch;
  const failures = [status.failure, list.failure].filter((failure) => failure !== undefined);
  return html`${distinct(failures).map((failure) => failureNote(failure, texts))}
    ${status.value === undefined || status.value.serving ? nothing : stoppedNote(status.value, texts)}
    ${list.value === undefined ? nothing : quarantineNote(state, list.value, texts)}
    ${figures(state, texts)} ${status.value === undefined ? nothing : chartPanel(state, change, texts, status.value)}
    ${list.value === undefined ? nothing : workerPanel(state, change, texts, list.value)}
    ${sequencePanel(sequences, texts)}`;
}

/** One of each reason: what one call is refused for, the others are. */
function distinct(failures: readonly Failure[]): readonly Failure[] {
  return failures.filter(({ reason }, at) => failures.findIndex((other) => other.reason === reason) === at);
}

function failureNote(failure: Failure, texts: Texts): TemplateResult {
  return html`<p class="error" role="alert">${texts.watch.failed} ${texts.generate.failure(failure)}</p>`;
}

function stoppedNote({ reason }: ServerStatus, { watch }: Texts): TemplateResult {
  return html`<p class="warning" role="status">${watch.notServing(reason)}</p>`;
}

function quarantineNote({ nowMs }: State, { quarantineEndMs, quarantineReason }: WorkerList, { watch }: Texts) {
  if (quarantineEndMs === undefined || quarantineEndMs <= nowMs) return nothing;
  return html`<p class="warning" role="status">${watch.quarantine(utcTime(quarantineEndMs), quarantineReason)}</p>`;
}

function figure(name: string, value: string | undefined, note = ""): TemplateResult {
  return html`<div><dt>${name}</dt><dd>${value ?? "–"} ${note === "" ? nothing : html`<small>${note}</small>`}</dd></div>`;
}

/** The answers to the first questions: does it serve, as which worker, until when, how many worker IDs are left. */
function figures(state: State, texts: Texts): TemplateResult {
  const words = texts.watch;
  const { info, kind } = state.server;
  const { list, status } = state.watch;
  const grant = status.value?.grant;
  const held = list.value?.rows.filter((row) => row.state === "held").length;
  const serving = status.value?.serving === false ? "waiting" : kind;
  return html`<section class="panel figures" aria-label=${words.server}>
    <dl class="parts">
      ${figure(words.server, texts.server[serving], serverNote(state, texts))}
      ${figure(words.worker, workerName(state, texts), grant && words.granted(grant.generation, utcTime(grant.sinceMs)))}
      ${figure(words.held, held === undefined ? undefined : words.of(held, list.value?.idCount ?? 0), freeNote(list.value, texts))}
      ${figure(words.window, grant && words.seconds(grant.windowLeftMs), words.windowNote)}
      ${figure(words.leadTime, grant && words.milliseconds(grant.leadMs), words.leadNote)}
      ${figure(words.store, status.value?.store.kind, storeNote(status.value, texts))}
      ${figure(words.layout, info?.layout.name, info === undefined ? "" : words.until(isoDay(info.exhaustionMs)))}
      ${figure(words.rollback, info?.rollbackPolicy)}
    </dl>
  </section>`;
}

function serverNote({ server: { info }, watch: { status }, nowMs }: State, { watch }: Texts): string {
  const version = info === undefined ? "" : watch.version(info.version);
  if (status.value === undefined) return version;
  const { startMs, connections, waiting } = status.value;
  const parts = [version, watch.started(spanBetween(startMs, nowMs)), watch.load(connections, waiting)];
  return parts.filter((part) => part !== "").join(", ");
}

function workerName({ server: { info, kind }, watch: { status } }: State, { watch }: Texts): string | undefined {
  const known = status.value === undefined && kind === "serving" ? info : undefined;
  const holder = status.value?.grant ?? known;
  return holder && watch.workerOf(holder.datacenterId, holder.workerId, hasDatacenter(info));
}

function freeNote(list: WorkerList | undefined, { watch }: Texts): string {
  return list === undefined ? "" : watch.free(list.freeCount);
}

function storeNote(status: ServerStatus | undefined, { watch }: Texts): string {
  if (status === undefined) return "";
  const { reachable, answerAgeMs, clockAheadMs } = status.store;
  return watch.storeState(reachable, answerAgeMs, clockAheadMs);
}

/** The charts of the last minutes. charts.ts draws them into the empty places, once it is loaded. */
function chartPanel(state: State, change: Change, texts: Texts, { samples }: ServerStatus): TemplateResult {
  const words = texts.watch;
  const { seconds, looks } = state.watch;
  const patch = (parts: Partial<State["watch"]>): void =>
    change((state) => ({ ...state, watch: { ...state.watch, ...parts } }));
  const shown = samples.slice(-seconds);
  return html`<section class="panel pad charts" aria-labelledby="charts">
    <div class="row head">
      <h2 id="charts">${words.charts}</h2>
      ${switchButtons({
        label: words.span,
        value: String(seconds),
        options: [
          ["60", words.minutes(1)],
          ["300", words.minutes(5)],
        ],
        onChange: (value) => patch({ seconds: value === "60" ? 60 : 300 }),
      })}
      <button type="button" aria-pressed=${looks === "paused"} @click=${() => patch({ looks: looks === "on" ? "paused" : "on" })}>
        ${looks === "on" ? words.pause : words.goOn}
      </button>
    </div>
    <p class="note">${words.figuresNote} ${words.ownCalls}</p>
    <div class="figures-of-time">${chartNames.map((name) => chart(name, shown, texts))}</div>
    <details>
      <summary>${words.asTable}</summary>
      ${numbers(shown, texts)}
    </details>
  </section>`;
}

/** One chart: its title, what its lines are, the mean of the last seconds, and what is above its scale. */
function chart(name: ChartName, samples: readonly SecondSample[], texts: Texts): TemplateResult {
  const words = texts.watch;
  const highest = highestOf(name, samples);
  const isAbove = highest !== undefined && highest.value > chartTop(knownValues(name, samples));
  return html`<figure>
    <figcaption>
      <span>${words.chart[name]}</span>
      ${(chartLines[name] ?? []).map((line) => html`<span class="legend ${line}">${line}</span>`)}
      <b>${words.measure(name, meanOfLast(name, samples))}</b>
    </figcaption>
    <div class="chart" data-chart=${name} aria-hidden="true"></div>
    <p class="above">${isAbove ? aboveWords(name, highest, texts) : nothing}</p>
    ${name === "errors" ? errorCodes(samples, texts) : nothing}
  </figure>`;
}

/** Which errors they were, the most frequent first (docs/adr/0220). */
function errorCodes(samples: readonly SecondSample[], { watch, number }: Texts): TemplateResult | typeof nothing {
  const codes = addErrorCodes(samples).map(({ code, count }) => `${code} ${number(count)}`);
  return codes.length === 0 ? nothing : html`<p class="note codes">${watch.errorCodes(codes.join(", "))}</p>`;
}

function aboveWords(name: ChartName, { value, timeMs }: ToldValue, { watch }: Texts): string {
  return watch.aboveScale(watch.measure(name, value), clockWords(timeMs, 0, ownZone()));
}

/** The same for those who do not see charts: the greatest value with its second, so that a peak can be dated. */
function numbers(samples: readonly SecondSample[], texts: Texts): TemplateResult {
  const words = texts.watch;
  return html`<div class="scroll">
    <table class="numbers">
      <thead>
        <tr>
          ${words.chartColumns.map((column) => html`<th scope="col">${column}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${chartNames.map((name) => {
          const values = samples.flatMap((sample) => chartValues[name](sample).at(-1) ?? []);
          const highest = highestOf(name, samples);
          const least = values.length === 0 ? undefined : Math.min(...values);
          const mean = values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
          return html`<tr>
            <th scope="row">${words.chart[name]}</th>
            ${[meanOfLast(name, samples), least, mean, highest?.value].map(
              (value) => html`<td>${words.measure(name, value)}</td>`,
            )}
            <td>${highest === undefined ? "–" : clockWords(highest.timeMs, 0, ownZone())}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}
