import { html, nothing, type TemplateResult } from "lit-html";
import type { ParsedSource } from "../../../src/text/parse-source.ts";
import type { Change, State } from "../state.ts";
import type { Texts } from "../texts/en.ts";
import { copyRows } from "./copy-rows.ts";
import { type ForeignField, foreignFields, rowsOf64 } from "./foreign-bits.ts";

/** Draws what a UUID, or a text of another generator, says of itself: its bits, and its parts, copied by a press. */
export function strangerParts(
  state: State,
  change: Change,
  texts: Texts,
  { text, source }: { readonly text: string; readonly source: ParsedSource },
): TemplateResult {
  const words = texts.parse;
  const { uuid, foreign, parsed } = source;
  const parts: (readonly [string, string])[] = [];
  if (uuid !== undefined) parts.push([words.uuid.variant, uuid.variant]);
  if (uuid?.clockSequence !== undefined) parts.push([words.uuid.clockSequence, String(uuid.clockSequence)]);
  if (uuid?.node !== undefined) parts.push([words.uuid.node, uuid.node]);
  parts.push(...Object.entries(foreign?.parts ?? {}));
  const time = uuid?.createTimeNs ?? foreign?.createTimeNs;
  const note = [
    uuid !== undefined && parsed === undefined ? words.uuid.none : "",
    foreign === undefined ? "" : words.foreign.note,
    time === undefined ? words.uuid.noTime : "",
  ];
  return html`<div class="stranger">
    <h2>${uuid === undefined ? words.foreign.title(foreign?.kind ?? "") : words.uuid.title(uuid.version)}</h2>
    <p class="note">${note.filter((part) => part !== "").join(" ")}</p>
    ${parsed === undefined ? foreignStrip(texts, foreignFields(text, source)) : nothing}
    ${copyRows(
      state,
      change,
      texts,
      parts.map(([label, value]) => ({ key: `part-${label}`, label, text: value })),
    )}
  </div>`;
}

/** The bits in rows of 64. A reader of a screen hears the fields with their widths: the table has their values. */
function foreignStrip(texts: Texts, fields: readonly ForeignField[]): TemplateResult | typeof nothing {
  if (fields.length === 0) return nothing;
  const said = fields.map(({ name, digits }) => texts.parse.fieldBits(name, digits.length)).join("; ");
  return html`<div class="foreign-strip" role="img" aria-label="${texts.parse.bits}: ${said}">
    ${rowsOf64(fields).map(
      (row) =>
        html`<div class="bits">
          ${row.map(
            ({ kind, name, digits }) =>
              html`<div class="f ${kind}" .style=${`--n: ${digits.length}`}>
                <span class="b">${Array.from(digits, (digit) => html`<i class=${digit === "1" ? "one" : nothing}>${digit}</i>`)}</span>
                <span class="n">${name}</span>
              </div>`,
          )}
          ${rest(row)}
        </div>`,
    )}
  </div>`;
}

/** Room at the end of a row that is not full, so that all bits have one width. */
function rest(row: readonly ForeignField[]): TemplateResult | typeof nothing {
  const left = 64 - row.reduce((sum, { digits }) => sum + digits.length, 0);
  return left === 0 ? nothing : html`<div class="f" .style=${`--n: ${left}`}></div>`;
}
