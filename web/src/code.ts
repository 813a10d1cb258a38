import { html, nothing, type TemplateResult } from "lit-html";
import type { Layout } from "../../src/snowflake/layout.ts";
import { parseId } from "../../src/snowflake/parse.ts";
import { callLanguageNames, callLanguages, callSample } from "./call-samples.ts";
import { copyButton } from "./copy-button.ts";
import { readCount, readFormat } from "./format-choice.ts";
import { handSample } from "./hand-samples.ts";
import { sampleFiles, sampleLanguages } from "./layout-samples.ts";
import { pageBase } from "./page-base.ts";
import type { Change, GenerateState, State } from "./state.ts";
import { choiceField } from "./text-field.ts";
import type { Texts } from "./texts/en.ts";

/** A program that does the same as the controls beside it. */
interface ShownCode {
  readonly title: string;
  readonly language: string;
  readonly languages: readonly (readonly [value: string, label: string])[];
  readonly choose: (language: string) => Partial<GenerateState>;
  readonly code: string;
  readonly notes: readonly string[];
}

/** Draws the code for the call that Generate makes: its count, its text form, and the token if the server wants one. */
export function callCode(state: State, change: Change, texts: Texts): TemplateResult {
  const words = texts.generate;
  const { callLanguage, count, format } = state.generate;
  const read = readFormat(format);
  const { info } = state.server;
  // A server of an older version lists none at all.
  const most = info === undefined ? Infinity : Math.max(info.nextCountMax, 1);
  const wanted = Math.max(1, readCount(count) ?? 1);
  const hasToken = state.access.kind !== "open";
  const code = callSample(callLanguage, {
    base: pageBase,
    count: Math.min(wanted, most),
    format: read.kind === "format" ? read.format : { form: "decimal" },
    hasToken,
  });
  return codePanel(state, change, texts, {
    title: words.code,
    language: callLanguage,
    languages: callLanguages.map((name) => [name, callLanguageNames[name]]),
    choose: (value) => ({ callLanguage: callLanguages.find((name) => name === value) ?? "curl" }),
    code,
    notes: [
      ...(wanted > most ? [words.codeMost(most)] : []),
      ...(hasToken ? [words.codeToken("SNOWLANE_TOKEN")] : []),
      words.codeNote,
    ],
  });
}

/** Draws the expression that makes an ID by hand; nothing where the controls make none. */
export function handCode(state: State, change: Change, texts: Texts, made: { layout: Layout; id: bigint | undefined }) {
  const { layout, id } = made;
  if (id === undefined) return nothing;
  const words = texts.generate;
  const { handLanguage } = state.generate;
  const { createTimeMs, datacenterId = 0, workerId = 0, sequence = 0 } = parseId(layout, id);
  return codePanel(state, change, texts, {
    title: words.code,
    language: handLanguage,
    languages: sampleLanguages.map((name) => [name, sampleFiles[name][0]]),
    choose: (value) => ({ handLanguage: sampleLanguages.find((name) => name === value) ?? "javascript" }),
    code: handSample(handLanguage, layout, { timeMs: createTimeMs, datacenterId, workerId, sequence }),
    notes: [words.handCodeNote],
  });
}

function codePanel(state: State, change: Change, texts: Texts, shown: ShownCode): TemplateResult {
  const words = texts.generate;
  const { title, language, languages, choose, code, notes } = shown;
  return html`<section class="panel pad code" aria-labelledby="code">
    <h2 id="code">${title}</h2>
    ${choiceField({
      id: "language",
      label: words.language,
      value: language,
      options: languages,
      onChange: (value) => change((state) => ({ ...state, generate: { ...state.generate, ...choose(value) } })),
    })}
    <pre tabindex="0" aria-label=${words.code}><code>${code}</code></pre>
    ${copyButton(state, change, texts, {
      key: "code",
      label: texts.copy.copy,
      name: words.copyCode,
      text: () => code,
    })}
    ${notes.map((note) => html`<p class="note">${note}</p>`)}
  </section>`;
}
