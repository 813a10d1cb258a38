import { html, nothing, type TemplateResult } from "lit-html";
import type { Layout } from "../../src/snowflake/layout.ts";
import { layouts, presetNames } from "../../src/snowflake/presets.ts";
import {
  type LayoutChoice,
  type LayoutControl,
  type ResolvedLayout,
  resolveLayout,
  typedFieldsOf,
  withEpochDate,
  withEpochMs,
} from "./layout-choice.ts";
import type { Change, State } from "./state.ts";
import { choiceField, type TextField, textField } from "./text-field.ts";
import type { Texts } from "./texts/en.ts";
import { isoDay } from "./time-words.ts";

/** The units of time that a custom layout can have here: those that generators use. */
const ticks: readonly (readonly [tickNs: number, label: string])[] = [
  [1_000, "1 µs"],
  [100_000, "100 µs"],
  [1e6, "1 ms"],
  [1e7, "10 ms"],
  [1e8, "100 ms"],
  [1e9, "1 s"],
  [6e10, "1 min"],
];

/** The layout that the reader chose. */
export function chosenLayout(state: State): ResolvedLayout {
  return resolveLayout(state.layout, state.server.info?.layout);
}

/** The name of a preset as people write it. */
export function presetTitle(name: string): string {
  const titles: Readonly<Record<string, string>> = {
    javascript: "JavaScript",
    cosid: "CosId",
    tsid: "TSID",
    clickhouse: "ClickHouse",
    pgedge: "pgEdge",
    "pgedge-2.3": "pgEdge 2.3",
  };
  return titles[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
}

const changeLayout = (change: Change, next: (layout: LayoutChoice) => LayoutChoice): void =>
  change((state) => ({ ...state, layout: next(state.layout) }));

/**
 * Draws the choice of a layout, with the button that shows its epoch and its fields.
 *
 * @param unchosen - What holds where none is chosen: the server's layout, or the likeliest one of each ID.
 */
export function layoutField(
  state: State,
  change: Change,
  texts: Texts,
  unchosen: "server" | "guess" = "server",
): TemplateResult {
  const words = texts.layout;
  const titleOf = (layout: Layout, title: string): string =>
    words.since(title, isoDay(layout.epochMs)) + (layout.endMs < state.nowMs ? words.ended(isoDay(layout.endMs)) : "");
  const ofServer = state.server.info?.layout;
  const ofServerTitle =
    ofServer === undefined ? words.ofServer : titleOf(ofServer, `${words.ofServer} (${ofServer.name})`);
  const options = [
    ["server", unchosen === "guess" ? words.guess : ofServerTitle],
    ...presetNames.map((name) => [name, titleOf(layouts[name], presetTitle(name))] as const),
    ["custom", words.custom],
  ] as const;
  const choose = (name: string): void =>
    change((state) => {
      const known = options.find(([option]) => option === name)?.[0] ?? "server";
      const isCustom = known === "custom";
      const fields = isCustom ? typedFieldsOf(chosenLayout(state).layout) : state.layout.fields;
      const tickNs = isCustom ? chosenLayout(state).layout.tickNs : state.layout.tickNs;
      const layoutDetail = isCustom ? "shown" : state.layoutDetail;
      const layout = { name: known, epochDate: "", epochMs: "", fields, tickNs };
      return { ...state, layoutDetail, layout };
    });
  return choiceField({ id: "layout", label: words.label, value: state.layout.name, options, onChange: choose });
}

/** Draws the button that shows and hides {@link layoutDetail}. */
export function layoutDetailButton(state: State, change: Change, texts: Texts): TemplateResult {
  const isShown = state.layoutDetail === "shown" || chosenLayout(state).problems.length > 0;
  return html`<button
    type="button"
    aria-expanded=${String(isShown)}
    aria-controls="layout-detail"
    @click=${() => change((state) => ({ ...state, layoutDetail: isShown ? "hidden" : "shown" }))}
  >
    ${texts.layout.detail}
  </button>`;
}

/**
 * The error of one text field: its own, or the place of one that concerns others too, which is shown once, behind the
 * last of them.
 */
function errorOf(
  { problems }: ResolvedLayout,
  control: LayoutControl,
  sharedId: string,
  texts: Texts,
): Pick<TextField, "error" | "errorId"> {
  const problem = problems.find(({ controls }) => controls.includes(control));
  if (problem === undefined) return {};
  return problem.controls.length > 1 ? { errorId: sharedId } : { error: texts.layout.problem(problem) };
}

/** The words of the error that several of these text fields have together. */
function sharedError({ problems }: ResolvedLayout, control: LayoutControl, texts: Texts): string | undefined {
  const problem = problems.find(({ controls }) => controls.length > 1 && controls.includes(control));
  return problem === undefined ? undefined : texts.layout.problem(problem);
}

/** Draws the epoch and, of a custom layout, its fields; nothing while they are hidden and right. */
export function layoutDetail(state: State, change: Change, texts: Texts): TemplateResult | typeof nothing {
  const words = texts.layout;
  const chosen = chosenLayout(state);
  const { epochDate, epochMs, name } = state.layout;
  if (state.layoutDetail === "hidden" && chosen.problems.length === 0) return nothing;
  const shared = sharedError(chosen, "epochMs", texts);
  const own = resolveLayout({ ...state.layout, epochDate: "", epochMs: "" }, state.server.info?.layout).layout;
  return html`<div class="detail" id="layout-detail">
    <div class="row">
      ${textField({
        id: "epoch-date",
        label: words.epochDate,
        value: epochDate,
        ...errorOf(chosen, "epochDate", "epoch-note", texts),
        hint: words.ownEpoch(isoDay(own.epochMs)),
        onInput: (value) => changeLayout(change, (layout) => withEpochDate(layout, value)),
      })}
      ${textField({
        id: "epoch-ms",
        label: words.epochMs,
        value: epochMs,
        ...errorOf(chosen, "epochMs", "epoch-note", texts),
        hint: String(own.epochMs),
        inputMode: "numeric",
        onInput: (value) => changeLayout(change, (layout) => withEpochMs(layout, value)),
      })}
      ${shared === undefined ? nothing : html`<p class="error" id="epoch-note">${shared}</p>`}
    </div>
    ${name === "custom" ? customFields(state, change, texts) : nothing}
  </div>`;
}

function customFields(state: State, change: Change, texts: Texts): TemplateResult {
  const words = texts.layout;
  const chosen = chosenLayout(state);
  const { fields, tickNs } = state.layout;
  const shared = sharedError(chosen, "worker", texts);
  const sum = fields.reduce((total, { bits }) => total + (Number(bits) || 0), 0);
  const setBits = (index: number, bits: string): void =>
    changeLayout(change, (layout) => ({
      ...layout,
      fields: layout.fields.map((field, at) => (at === index ? { ...field, bits } : field)),
    }));
  const swap = (index: number, other: number): void =>
    changeLayout(change, (layout) => {
      const [one, two] = [layout.fields[index], layout.fields[other]];
      if (one === undefined || two === undefined) return layout;
      return { ...layout, fields: layout.fields.with(index, two).with(other, one) };
    });
  const move = (index: number, other: number, label: string, sign: string): TemplateResult =>
    html`<button
      type="button"
      class="small"
      aria-label=${label}
      ?disabled=${fields[other] === undefined}
      @click=${() => swap(index, other)}
    >
      ${sign}
    </button>`;
  return html`<fieldset class="custom">
    <legend>${words.fields}</legend>
    <div class="widths">
      ${fields.map(
        ({ kind, bits }, index) =>
          html`<div class="width ${kind}">
            ${textField({
              id: `bits-${kind}`,
              label: words.bitsOf(kind),
              value: bits,
              ...errorOf(chosen, kind, "bits-note", texts),
              inputMode: "numeric",
              onInput: (value) => setBits(index, value),
            })}
            ${move(index, index - 1, words.up(kind), "←")} ${move(index, index + 1, words.down(kind), "→")}
          </div>`,
      )}
    </div>
    <div class="row">
      ${choiceField({
        id: "tick",
        label: words.tick,
        value: String(tickNs),
        options: ticks.map(([tick, label]) => [String(tick), label]),
        onChange: (value) => changeLayout(change, (layout) => ({ ...layout, tickNs: Number(value) })),
      })}
      <p class=${shared === undefined ? "note" : "error"} id="bits-note" role="status">${shared ?? words.sum(sum)}</p>
    </div>
  </fieldset>`;
}
