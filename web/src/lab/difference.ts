import { html, nothing, type TemplateResult } from "lit-html";
import { makersFieldName } from "../../../src/snowflake/field-names.ts";
import type { ParsedId } from "../../../src/snowflake/parse.ts";
import type { Change, State } from "../state.ts";
import { choiceField } from "../text-field.ts";
import type { Texts } from "../texts/en.ts";
import { spanBetween } from "../time-words.ts";
import type { TextId } from "./text-ids.ts";

/** As many others can be chosen: a longer list is not a choice. */
const othersMax = 100;

/** Draws the time, the fields and the number between the ID that is shown and another one of the text. */
export function differenceCard(
  state: State,
  change: Change,
  texts: Texts,
  { parsed, ids }: { readonly parsed: ParsedId; readonly ids: readonly TextId[] },
): TemplateResult {
  const { difference } = texts.parse;
  const others = othersOf(state, ids).slice(0, othersMax);
  const chosen = others.find(({ index }) => index === state.parse.before) ?? others[0];
  return html`<section class="panel card" aria-labelledby="difference">
    <h2 id="difference">${difference.title}</h2>
    ${
      chosen === undefined
        ? html`<p class="note">${difference.none}</p>`
        : html`${choiceField({
            id: "other",
            label: difference.with,
            value: String(chosen.index),
            options: others.map(({ index, other }) => [String(index), String(other.id)]),
            onChange: (value) => change((state) => ({ ...state, parse: { ...state.parse, before: Number(value) } })),
          })}
          ${facts(texts, parsed, chosen.other)}`
    }
  </section>`;
}

/** The other IDs that hold a time. */
function othersOf(
  { parse }: State,
  ids: readonly TextId[],
): readonly { readonly index: number; readonly other: ParsedId }[] {
  return ids.flatMap(({ reading }, index) => {
    const other = reading?.kind === "read" ? reading.source.parsed : undefined;
    return other === undefined || index === parse.at ? [] : [{ index, other }];
  });
}

function facts(texts: Texts, one: ParsedId, other: ParsedId): TemplateResult {
  const { difference } = texts.parse;
  const spanMs = other.createTimeMs - one.createTimeMs;
  const words = difference.span(spanBetween(one.createTimeMs, other.createTimeMs), Math.abs(spanMs));
  const time = spanMs === 0 ? difference.sameTime : spanMs > 0 ? difference.later(words) : difference.earlier(words);
  const same = sameFields(one, other, texts);
  const number = other.id - one.id;
  return html`<dl class="facts">
    <dt>${difference.time}</dt>
    <dd>${time}</dd>
    <dt>${difference.same}</dt>
    <dd>${same.length === 0 ? difference.noField : same.join(", ")}</dd>
    <dt>${difference.number}</dt>
    <dd class="v">${number > 0n ? "+" : ""}${number}</dd>
    ${isSameLayout(one, other) ? nothing : html`<dt>${texts.layout.label}</dt><dd>${difference.otherLayout}</dd>`}
  </dl>`;
}

/** A worker of one layout is another's shard: fields are compared within a layout alone. */
function isSameLayout({ layout: one }: ParsedId, { layout: other }: ParsedId): boolean {
  return one.name === other.name && one.epochMs === other.epochMs;
}

function sameFields(one: ParsedId, other: ParsedId, texts: Texts): readonly string[] {
  if (!isSameLayout(one, other)) return [];
  const pairs = [
    ["datacenter", one.datacenterId, other.datacenterId],
    ["worker", one.workerId, other.workerId],
    ["sequence", one.sequence, other.sequence],
  ] as const;
  return pairs.flatMap(([kind, value, otherValue]) =>
    value === undefined || value !== otherValue
      ? []
      : `${makersFieldName(one.layout.name, kind) ?? texts.fields[kind]} ${texts.number(value)}`,
  );
}
