import { html, nothing, type TemplateResult } from "lit-html";
import type { Change, ServerInfo, State, WorkerList, WorkerRow } from "./state.ts";
import { workerStates } from "./state.ts";
import { choiceField, textField } from "./text-field.ts";
import type { Texts } from "./texts/en.ts";
import { clockWords, isoDay, spanBetween } from "./time-words.ts";

/** Rows that are drawn at once: further ones are found by searching. */
const rowsMax = 500;

/** The view that shows the server and the worker IDs of its deployment. */
export function watchView(state: State, change: Change, texts: Texts): TemplateResult {
  const words = texts.watch;
  const { list, failure } = state.watch;
  return html`<h1>${words.heading}</h1>
    <p class="lead">${words.lead}</p>
    ${
      failure === undefined
        ? nothing
        : html`<p class="error" role="alert">${words.failed} ${texts.generate.failure(failure)}</p>`
    }
    ${
      list?.quarantineEndMs !== undefined && list.quarantineEndMs > state.nowMs
        ? html`<p class="warning" role="status">
          ${words.quarantine(timeOf(list.quarantineEndMs), list.quarantineReason)}
        </p>`
        : nothing
    }
    ${figures(state, texts)} ${list === undefined ? nothing : workerPanel(state, change, texts, list)}`;
}

function figure(name: string, value: string | undefined, note = ""): TemplateResult {
  return html`<div><dt>${name}</dt><dd>${value ?? "–"} ${note === "" ? nothing : html`<small>${note}</small>`}</dd></div>`;
}

/** The answers to the first questions: does it serve, as which worker, until when, how many worker IDs are left. */
function figures(state: State, texts: Texts): TemplateResult {
  const words = texts.watch;
  const { info, kind } = state.server;
  const { list } = state.watch;
  const own = list?.rows.find((row) => isOwn(row, info));
  const held = list?.rows.filter((row) => row.state === "held").length;
  return html`<section class="panel figures" aria-label=${words.server}>
    <dl class="parts">
      ${figure(words.server, texts.server[kind], info === undefined ? "" : words.version(info.version))}
      ${figure(words.worker, info && words.workerOf(info.datacenterId, info.workerId, hasDatacenter(info)))}
      ${figure(words.held, held === undefined ? undefined : words.of(held, list?.idCount ?? 0), freeNote(list, texts))}
      ${figure(words.window, own?.windowLeftMs === undefined ? undefined : words.seconds(own.windowLeftMs))}
      ${figure(words.layout, info?.layout.name, info === undefined ? "" : words.until(isoDay(info.exhaustionMs)))}
      ${figure(words.rollback, info?.rollbackPolicy)}
    </dl>
  </section>`;
}

function freeNote(list: WorkerList | undefined, { watch }: Texts): string {
  return list === undefined ? "" : watch.free(list.freeCount);
}

function hasDatacenter({ layout }: ServerInfo): boolean {
  return layout.datacenter.bits > 0;
}

function isOwn({ datacenterId, workerId }: WorkerRow, info: ServerInfo | undefined): boolean {
  return datacenterId === info?.datacenterId && workerId === info.workerId;
}

function timeOf(unixMs: number): string {
  return `${isoDay(unixMs)} ${clockWords(unixMs, 0, "UTC")}`;
}

function workerPanel(state: State, change: Change, texts: Texts, list: WorkerList): TemplateResult {
  const words = texts.watch;
  const { find, only } = state.watch;
  const set = (parts: Partial<State["watch"]>): void =>
    change((state) => ({ ...state, watch: { ...state.watch, ...parts } }));
  const wanted = find.trim().toLowerCase();
  const found = list.rows.filter((row) => (only === "all" || row.state === only) && fits(row, wanted));
  const states = workerStates.map((name) => [name, words.states[name]] as const);
  return html`<section class="panel pad workers" aria-labelledby="workers">
    <h2 id="workers">${words.workers}</h2>
    <div class="row">
      ${textField({
        id: "find",
        label: words.find,
        value: find,
        hint: words.findHint,
        onInput: (value) => set({ find: value }),
      })}
      ${choiceField({
        id: "state",
        label: words.state,
        value: only,
        options: [["all", words.all], ...states],
        onChange: (value) => set({ only: workerStates.find((name) => name === value) ?? "all" }),
      })}
    </div>
    <p class="note" role="status">${words.found(found.length, list.rows.length, rowsMax)}</p>
    <table class="rows" role="table">
      <thead role="rowgroup">
        <tr role="row">
          ${words.columns.map((column) => html`<th scope="col" role="columnheader">${column}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${found.slice(0, rowsMax).map((row) => workerRow(state, texts, row))}
      </tbody>
    </table>
  </section>`;
}

function fits({ datacenterId, workerId, host, instance, version }: WorkerRow, wanted: string): boolean {
  const number = `${datacenterId} / ${workerId}`;
  return [host, instance, version, number].some((text) => text.toLowerCase().includes(wanted));
}

function workerRow(state: State, texts: Texts, row: WorkerRow): TemplateResult {
  const words = texts.watch;
  const { info } = state.server;
  const name = words.workerOf(row.datacenterId, row.workerId, info === undefined || hasDatacenter(info));
  const [, stateName, host, since, windowName, mark] = words.columns;
  const when = row.startMs === undefined ? "" : words.ago(spanBetween(row.startMs, state.nowMs));
  return html`<tr role="row" aria-current=${isOwn(row, info) ? "true" : nothing}>
    <th scope="row" role="rowheader">${name} ${isOwn(row, info) ? html`<small>${words.own}</small>` : nothing}</th>
    <td role="cell" data-name=${stateName ?? ""}>
      <span class="state ${row.state}">${words.states[row.state]}</span>
      ${row.freeMs === undefined || row.state === "held" ? nothing : html`<small>${words.freeAt(timeOf(row.freeMs))}</small>`}
    </td>
    <td role="cell" data-name=${host ?? ""} class="v">${row.host} <small>${row.instance}</small></td>
    <td role="cell" data-name=${since ?? ""}>${when}</td>
    <td role="cell" data-name=${windowName ?? ""}>${row.windowLeftMs === undefined ? "" : words.seconds(row.windowLeftMs)}</td>
    <td role="cell" data-name=${mark ?? ""}>${row.markMs === undefined ? "" : timeOf(row.markMs)}</td>
  </tr>`;
}
