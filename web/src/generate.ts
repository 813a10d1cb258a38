import { html, nothing, type TemplateResult } from "lit-html";
import { type TextForm, textForms } from "../../src/text/text-form.ts";
import { callLanguageNames, callLanguages, callSample } from "./call-samples.ts";
import { copyButton } from "./copy-button.ts";
import { download } from "./download.ts";
import { readFormat } from "./format-choice.ts";
import { cancelJob, countMax, runJob, shownMax } from "./generate-job.ts";
import { handCountMax, type HandParts, makeHandIds } from "./hand-ids.ts";
import { chosenLayout, layoutDetail, layoutDetailButton, layoutField } from "./layout-field.ts";
import { codecOf, firstChoice, readWhole } from "./layout-choice.ts";
import { pageBase } from "./page-base.ts";
import { setText } from "./parse.ts";
import type { Change, FormatChoice, GenerateState, Job, State } from "./state.ts";
import { choiceField, switchButtons, textField } from "./text-field.ts";
import type { Texts } from "./texts/en.ts";

const patch = (change: Change, parts: Partial<GenerateState>): void =>
  change((state) => ({ ...state, generate: { ...state.generate, ...parts } }));

/** The view that makes IDs. */
export function generateView(state: State, change: Change, texts: Texts, prompt: () => TemplateResult): TemplateResult {
  const words = texts.generate;
  const { source } = state.generate;
  return html`<h1>${words.heading}</h1>
    <p class="lead">${words.lead}</p>
    ${source === "server" ? prompt() : nothing}
    <div class="cols first">
      <section class="panel pad" aria-label=${words.heading}>
        ${switchButtons({
          label: words.source,
          value: source,
          options: [
            ["server", words.fromServer],
            ["hand", words.byHand],
          ],
          disabled: state.server.kind === "none" ? "server" : undefined,
          onChange: (value) => chooseSource(state, change, value === "hand" ? "hand" : "server"),
        })}
        ${state.server.kind === "none" ? html`<p class="hint">${words.noServer}</p>` : nothing}
        ${source === "server" ? fromServer(state, change, texts) : byHand(state, change, texts)}
      </section>
      ${codePanel(state, change, texts)}
    </div>`;
}

/** The time of an ID by hand is that of the choice, because the page may have been open for days. */
function chooseSource({ generate }: State, change: Change, source: GenerateState["source"]): void {
  const { hand, handTime } = generate;
  const isDue = source === "hand" && handTime === "chosen";
  patch(change, { source, hand: isDue ? { ...hand, time: new Date().toISOString() } : hand });
}

function fromServer(state: State, change: Change, texts: Texts): TemplateResult {
  const words = texts.generate;
  const { count, format, job } = state.generate;
  const most = Math.min(countMax, state.server.info?.batchCountMax ?? countMax);
  const wanted = readWhole(count.replaceAll(/[\s,_]/g, ""));
  const isCount = wanted !== undefined && wanted >= 1 && wanted <= most;
  const read = readFormat(format);
  const canRun = isCount && read.kind === "format" && job.kind !== "running";
  const submit = (event: Event): void => {
    event.preventDefault();
    if (canRun) void runJob(change, wanted, read.format);
  };
  return html`<form @submit=${submit} novalidate>
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
        <button type="submit" class="primary" ?disabled=${!canRun}>${words.generate}</button>
        ${job.kind === "running" ? html`<button type="button" @click=${cancelJob}>${words.cancel}</button>` : nothing}
      </div>
    </form>
    <div class="outcome" aria-live="polite">${outcome(state, change, texts, job)}</div>`;
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
    onChange: (value) => set({ form: textForms.find((form) => form === value) ?? "decimal" }),
  })}${options[format.form] ?? nothing}`;
}

function outcome(state: State, change: Change, texts: Texts, job: Job): TemplateResult {
  const words = texts.generate;
  switch (job.kind) {
    case "idle":
      return html`<p class="note">${words.first}</p>`;
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
          <button type="button" class="primary" @click=${() => download(job.lines, "snowlane-ids.txt")}>
            ${words.download}
          </button>
        </div>
        <p class="note">${words.took(job.count, job.tookMs)}</p>`;
    case "shown": {
      const note = `${words.took(job.texts.length, job.tookMs)} ${words.above(shownMax)}`;
      return idsShown(state, change, texts, { ids: job.ids, lines: job.texts, layout: "server", note });
    }
  }
}

/** IDs that are shown, with the buttons that copy, read and save them. */
interface ShownIds {
  readonly ids: readonly bigint[];
  readonly lines: readonly string[];
  /** The layout that they are read by on Parse: the server's, or the one that is chosen. */
  readonly layout: "server" | "chosen";
  readonly note: string;
}

function idsShown(state: State, change: Change, texts: Texts, shown: ShownIds): TemplateResult {
  const words = texts.generate;
  const { ids, lines, layout, note } = shown;
  const read = (): void => {
    if (layout === "server") change((state) => ({ ...state, layout: firstChoice }));
    setText(change, ids.join("\n"));
    location.hash = "#/parse";
  };
  const isOne = lines.length === 1;
  const text = lines.join("\n");
  return html`${
    isOne
      ? html`<p class="when id">${text}</p>`
      : html`<textarea class="ids" aria-label=${words.ids} readonly rows="10" .value=${text}></textarea>`
  }
    <div class="row">
      ${copyButton(state, change, texts, {
        key: "ids",
        label: isOne ? words.copy : words.copyAll,
        text: () => text,
      })}
      <button type="button" @click=${read}>${words.readIt}</button>
      ${
        isOne
          ? nothing
          : html`<button type="button" @click=${() => download(new Blob([text, "\n"]), "snowlane-ids.txt")}>
            ${words.download}
          </button>`
      }
    </div>
    ${note === "" ? nothing : html`<p class="note">${note}</p>`}`;
}

function byHand(state: State, change: Change, texts: Texts): TemplateResult {
  const words = texts.generate;
  const { hand, handTime, format } = state.generate;
  const { layout } = chosenLayout(state);
  const { ids, problems } = makeHandIds(layout, hand);
  const set = (parts: Partial<HandParts>): void =>
    patch(change, { hand: { ...hand, ...parts }, handTime: "time" in parts ? "given" : handTime });
  const field = (key: keyof HandParts, label: string, hint: string): TemplateResult => {
    const problem = problems[key];
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
  const read = readFormat(format);
  const lines = read.kind === "wrong" ? [] : writeAll(ids, codecOf(layout).writer(read.format));
  return html`<p class="warning">${words.warning}</p>
    <div class="row controls">${layoutField(state, change, texts)} ${layoutDetailButton(state, change, texts)}</div>
    ${layoutDetail(state, change, texts)}
    <div class="grid">
      <div class="with-button">
        ${field("time", words.time, words.timeHint)}
        <button type="button" @click=${() => set({ time: new Date().toISOString() })}>${words.now}</button>
      </div>
      ${part("datacenterId", texts.parse.datacenter, layout.datacenter)}
      ${part("workerId", texts.parse.worker, layout.worker)}
      ${part("sequence", texts.parse.sequence, layout.sequence)}
      ${field("count", words.count, words.range(handCountMax).replace(/^0/, "1"))} ${formFields(state, change, texts)}
    </div>
    <div class="outcome" aria-live="polite">
      ${
        lines.length === 0
          ? html`<p class="note">${words.fix}</p>`
          : idsShown(state, change, texts, { ids, lines, layout: "chosen", note: words.handCountHint })
      }
    </div>`;
}

/** An ID that a form cannot write, as a UUID of a time before 1970, leaves nothing to show. */
function writeAll(ids: readonly bigint[], write: (id: bigint) => string): readonly string[] {
  try {
    return ids.map(write);
  } catch {
    return [];
  }
}

function codePanel(state: State, change: Change, texts: Texts): TemplateResult {
  const words = texts.generate;
  const { language } = state.generate;
  const code = callSample(language, pageBase.replace(/\/$/, ""));
  return html`<section class="panel pad code" aria-labelledby="code">
    <h2 id="code">${words.code}</h2>
    ${choiceField({
      id: "language",
      label: words.language,
      value: language,
      options: callLanguages.map((name) => [name, callLanguageNames[name]]),
      onChange: (value) => patch(change, { language: callLanguages.find((name) => name === value) ?? "curl" }),
    })}
    <pre tabindex="0" aria-label=${words.code}><code>${code}</code></pre>
    ${copyButton(state, change, texts, {
      key: "code",
      label: texts.copy.copy,
      name: words.copyCode,
      text: () => code,
    })}
    ${language === "curl" ? nothing : html`<p class="note">${words.codeNote}</p>`}
  </section>`;
}
