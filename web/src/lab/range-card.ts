import { html, nothing, type TemplateResult } from "lit-html";
import { IdError } from "../../../src/errors.ts";
import { type IdRange, idRange } from "../../../src/snowflake/id-range.ts";
import type { Layout } from "../../../src/snowflake/layout.ts";
import type { ParsedId } from "../../../src/snowflake/parse.ts";
import { copyButton } from "../copy-button.ts";
import { rangeUnits, type Change, type ParseState, type State } from "../state.ts";
import { switchButtons, textField } from "../text-field.ts";
import type { Texts } from "../texts/en.ts";
import { isoDay, utcTime } from "../time-words.ts";

const nsPerMs = 1_000_000n;
const unitMs: Readonly<Record<(typeof rangeUnits)[number], number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/** Draws the query for the IDs of the same minute, hour or day. */
export function rangeCard(state: State, change: Change, texts: Texts, parsed: ParsedId): TemplateResult {
  const { range } = texts.parse;
  const { unit, column } = state.parse.range;
  const set = (parts: Partial<ParseState["range"]>): void =>
    change((state) => ({ ...state, parse: { ...state.parse, range: { ...state.parse.range, ...parts } } }));
  const fromMs = Math.floor(parsed.createTimeMs / unitMs[unit]) * unitMs[unit];
  const toMs = fromMs + unitMs[unit];
  const ids = rangeOf(parsed.layout, fromMs, toMs);
  const name = columnName(column);
  const query = ids === undefined ? "" : `WHERE ${name} BETWEEN ${ids.firstId} AND ${ids.lastId}`;
  return html`<section class="panel card" aria-labelledby="range">
    <header>
      <h2 id="range">${range.title}</h2>
      ${switchButtons({
        label: range.unit,
        value: unit,
        options: rangeUnits.map((each) => [each, range.units[each]]),
        onChange: (value) => set({ unit: rangeUnits.find((each) => each === value) ?? "hour" }),
      })}
    </header>
    ${
      ids === undefined
        ? html`<p class="note">${range.none}</p>`
        : html`<pre class="query" tabindex="0" role="group" aria-label=${range.title}><code>${query}</code></pre>
          <p class="note">
            ${range.span(spanText(fromMs, unit), spanText(toMs, unit))} ${isTimeFirst(parsed.layout) ? "" : range.firstFilter}
          </p>`
    }
    <div class="row">
      ${textField({ id: "column", label: range.column, value: column, onInput: (value) => set({ column: value }) })}
      ${
        ids === undefined
          ? nothing
          : copyButton(state, change, texts, {
              key: "query",
              label: texts.copy.copy,
              name: range.copy,
              text: () => query,
            })
      }
    </div>
  </section>`;
}

/** The first and the last ID of a span; undefined where the layout has no tick in it. */
function rangeOf(layout: Layout, fromMs: number, toMs: number): IdRange | undefined {
  try {
    return idRange(layout, BigInt(fromMs) * nsPerMs, BigInt(toMs) * nsPerMs);
  } catch (error) {
    if (error instanceof IdError) return undefined;
    throw error;
  }
}

/** Whether the IDs of other times lie outside the range: the time takes the highest bits. */
function isTimeFirst({ fields }: Layout): boolean {
  return fields[0]?.kind === "timestamp";
}

/** A name that SQL takes as it is, or in quotes: whatever is typed stays one name. */
function columnName(text: string): string {
  const name = text.trim() === "" ? "id" : text.trim();
  return /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

function spanText(unixMs: number, unit: (typeof rangeUnits)[number]): string {
  return unit === "day" ? isoDay(unixMs) : utcTime(unixMs).slice(0, 16);
}
