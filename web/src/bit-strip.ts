import { html, nothing, type TemplateResult } from "lit-html";
import { makersFieldName } from "../../src/snowflake/field-names.ts";
import { decomposeId, type LayoutFieldKind } from "../../src/snowflake/layout.ts";
import type { ParsedId } from "../../src/snowflake/parse.ts";
import { moveFocus } from "./move-focus.ts";
import type { Texts } from "./texts/en.ts";

/** A group of bits of an ID, from the highest down. */
interface BitGroup {
  readonly kind: LayoutFieldKind | "sign" | "unused";
  readonly name: string;
  readonly digits: string;
  readonly value: string;
  /** Its highest and its lowest bit. */
  readonly high: number;
  readonly low: number;
}

/** How the strip is drawn, and what is pointed at. */
export interface BitStrip {
  readonly parsed: ParsedId;
  readonly field: number | undefined;
  readonly onPoint: (field: number | undefined) => void;
  readonly texts: Texts;
  /** Whether the numbers of the highest and the lowest bit are above each field. */
  readonly positions?: "shown";
}

/** Draws the 64 bits of an ID in the colours of their fields. Mouse, finger and arrow keys name each field. */
export function bitStrip({ parsed, field, onPoint, texts, positions }: BitStrip): TemplateResult {
  const groups = groupsOf(parsed, texts);
  const words = texts.parse;
  const nameOf = ({ name, high, low, value }: BitGroup): string => words.bitRange(name, high, low, value);
  const pointed = field === undefined ? undefined : groups[field];
  const first = groups.findIndex(({ kind }) => kind !== "sign" && kind !== "unused");
  return html`<div class="strip">
    <div class="bits" role="group" aria-label=${words.bits} @keydown=${moveFocus} @pointerleave=${() => onPoint(undefined)}>
      ${groups.map(
        (group, index) =>
          html`<button
            type="button"
            class="f ${group.kind}"
            .style=${`--n: ${group.digits.length}`}
            tabindex=${index === (field ?? first) ? "0" : "-1"}
            data-bits=${group.digits.length}
            @focus=${() => onPoint(index)}
            @pointerenter=${() => onPoint(index)}
            @click=${() => onPoint(index)}
          >
            <span class="spoken">${nameOf(group)}</span>
            ${positions === "shown" ? positionsOf(group) : nothing}
            <span class="b" aria-hidden="true"
              >${Array.from(group.digits, (digit) => html`<i class=${digit === "1" ? "one" : nothing}>${digit}</i>`)}</span
            >
            <span class="n" aria-hidden="true">${labelOf(group, texts)}<b>${group.kind === "sign" || group.kind === "unused" ? "\u00a0" : group.value}</b></span>
          </button>`,
      )}
    </div>
    <p class="note strip-note" aria-live="polite">${pointed === undefined ? words.bitsHint : nameOf(pointed)}</p>
  </div>`;
}

function positionsOf({ high, low }: BitGroup): TemplateResult {
  return html`<span class="p" aria-hidden="true"><i>${high}</i>${high === low ? nothing : html`<i>${low}</i>`}</span>`;
}

/** The name of a field with its width, which is left out where the strip is narrow. */
function labelOf({ kind, name, digits }: BitGroup, { parse }: Texts): TemplateResult | string {
  if (kind === "sign") return "0";
  if (kind === "unused") return String(digits.length);
  if (kind === "timestamp") return parse.firstFieldBits(name, digits.length);
  return html`${name}<small>${parse.fieldBits("", digits.length)}</small>`;
}

function groupsOf({ layout, id, bits }: ParsedId, texts: Texts): readonly BitGroup[] {
  const parts = decomposeId(layout, id);
  const values: Readonly<Record<LayoutFieldKind, number>> = {
    timestamp: parts.ticks,
    datacenter: parts.datacenterId,
    worker: parts.workerId,
    sequence: parts.sequence,
  };
  const digitGroups = bits.split(" ");
  const heads = digitGroups.length - layout.fields.length;
  let high = 64;
  return digitGroups.map((digits, index): BitGroup => {
    high -= digits.length;
    const field = layout.fields[index - heads];
    const kind = field?.kind ?? (index === 0 ? "sign" : "unused");
    const name =
      kind === "sign" || kind === "unused"
        ? texts.parse[kind]
        : (makersFieldName(layout.name, kind) ?? texts.fields[kind]);
    const value = field === undefined ? "0" : String(values[field.kind]);
    return { kind, name, digits, value, high: high + digits.length - 1, low: high };
  });
}
