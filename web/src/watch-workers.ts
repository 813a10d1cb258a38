import { html, nothing, type TemplateResult } from "lit-html";
import type { Change, ServerInfo, State, WorkerList, WorkerRow } from "./state.ts";
import { workerStates } from "./state.ts";
import { choiceField, textField } from "./text-field.ts";
import type { Texts } from "./texts/en.ts";
import { spanBetween, utcTime } from "./time-words.ts";

/** Rows that are drawn at once: further ones are found by searching. */
const rowsMax = 500;

/** The worker IDs that were ever held, to search and to choose from by state. */
export function workerPanel(state: State, change: Change, texts: Texts, list: WorkerList): TemplateResult {
  const words = texts.watch;
  const { find, only } = state.watch;
  const set = (parts: Partial<State["watch"]>): void =>
    change((state) => ({ ...state, watch: { ...state.watch, ...parts } }));
  const wanted = find.trim().toLowerCase();
  const found = list.rows
    .filter((row) => (only === "all" || row.state === only) && fits(row, wanted))
    .toSorted((one, other) => Number(isOwn(other, state)) - Number(isOwn(one, state)));
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
  const name = words.workerOf(row.datacenterId, row.workerId, hasDatacenter(info));
  const [, stateName, host, since, reserved, version] = words.columns;
  const when = row.startMs === undefined ? "" : words.ago(spanBetween(row.startMs, state.nowMs));
  return html`<tr role="row" aria-current=${isOwn(row, state) ? "true" : nothing}>
    <th scope="row" role="rowheader">${name} ${isOwn(row, state) ? html`<small>${words.own}</small>` : nothing}</th>
    <td role="cell" data-name=${stateName ?? ""}>
      <span class="state ${row.state}">${words.states[row.state]}</span>
      ${row.freeMs === undefined || row.state === "held" ? nothing : html`<small>${words.freeAt(utcTime(row.freeMs))}</small>`}
    </td>
    <td role="cell" data-name=${host ?? ""} class="v">${row.host} <small>${row.instance}</small></td>
    <td role="cell" data-name=${since ?? ""}>${when}</td>
    <td role="cell" data-name=${reserved ?? ""}>
      ${row.markMs === undefined ? nothing : utcTime(row.markMs)}
      ${row.windowLeftMs === undefined ? nothing : html`<small>${words.windowLeft(row.windowLeftMs)}</small>`}
    </td>
    <td role="cell" data-name=${version ?? ""}>${row.version}</td>
  </tr>`;
}

function isOwn({ datacenterId, workerId }: WorkerRow, { server, watch }: State): boolean {
  const own = watch.status.value === undefined ? server.info : watch.status.value.grant;
  return datacenterId === own?.datacenterId && workerId === own.workerId;
}

/** Whether the layout tells datacenters apart; so it is shown while the layout is not known. */
export function hasDatacenter(info: ServerInfo | undefined): boolean {
  return info === undefined || info.layout.datacenter.bits > 0;
}
