import { html, nothing, type TemplateResult } from "lit-html";
import type { Layout } from "../../src/snowflake/layout.ts";
import { type ParsedId, parseId } from "../../src/snowflake/parse.ts";
import { bitStrip } from "./bit-strip.ts";
import { copyButton } from "./copy-button.ts";
import { download } from "./download.ts";
import { firstChoice } from "./layout-choice.ts";
import { madeBy } from "./maker-words.ts";
import { setText } from "./parse.ts";
import type { Change, State } from "./state.ts";
import type { Texts } from "./texts/en.ts";
import { clockWords, msOf, timeWords } from "./time-words.ts";

/** Rows of a list of IDs that are taken apart. */
const rowsMax = 20;

/** IDs that Generate shows. */
interface ShownIds {
  /** At least one. */
  readonly ids: readonly bigint[];
  /** The same IDs in the form that was chosen. */
  readonly lines: readonly string[];
  /** Their layout; undefined while it is not known. */
  readonly layout: Layout | undefined;
  /** The layout that they are read by on Parse: the server's, or the one that is chosen. */
  readonly readBy: "server" | "chosen";
  readonly note: string;
}

/** Draws IDs with their parts: one large, with its bits; of several the first in a table. */
export function shownIds(state: State, change: Change, texts: Texts, shown: ShownIds): TemplateResult {
  const words = texts.generate;
  const { ids, lines, layout, readBy, note } = shown;
  const [id] = ids;
  const [line] = lines;
  const isOne = lines.length === 1;
  const text = lines.join("\n");
  return html`<section class="panel pad shown" aria-label=${words.result}>
    <div class="row">
      ${
        isOne
          ? html`<p class="when id">${line}</p>`
          : html`<textarea class="ids" aria-label=${words.ids} readonly rows="10" .value=${text}></textarea>`
      }
      <div class="row buttons">
        ${copyButton(state, change, texts, {
          key: "ids",
          label: isOne ? words.copy : words.copyAll,
          text: () => text,
        })}
        <button type="button" @click=${() => readAll(change, ids, readBy)}>${words.readIt}</button>
        ${
          isOne
            ? nothing
            : html`<button type="button" @click=${() => download(new Blob([text, "\n"]), "snowlane-ids.txt")}>
              ${words.download}
            </button>`
        }
      </div>
    </div>
    ${note === "" ? nothing : html`<p class="note">${note}</p>`}
    ${layout === undefined || id === undefined ? nothing : isOne ? partsOfOne(state, change, texts, partsOf(layout, id)) : html`${rowsNote(ids, texts)} ${idRows(ids, lines, layout, texts)}`}
  </section>`;
}

/** The parts of an ID; undefined if it is not of the layout, as after a server was replaced by one of another. */
function partsOf(layout: Layout, id: bigint): ParsedId | undefined {
  try {
    return parseId(layout, id);
  } catch {
    return undefined;
  }
}

/** Reads IDs on Parse. */
export function readAll(change: Change, ids: readonly bigint[], readBy: ShownIds["readBy"]): void {
  if (readBy === "server") change((state) => ({ ...state, layout: firstChoice }));
  setText(change, ids.join("\n"));
  location.hash = "#/parse";
}

function partsOfOne(state: State, change: Change, texts: Texts, parsed: ParsedId | undefined) {
  if (parsed === undefined) return nothing;
  const onPoint = (field: number | undefined): void =>
    change((state) => ({ ...state, generate: { ...state.generate, field } }));
  return html`<p class="made">
      <b>${timeWords(parsed.createTimeNs, parsed.layout.tickNs, texts.locale)}</b> ${texts.parse.utc} ·
      ${madeBy(parsed, texts)}
    </p>
    ${bitStrip({ parsed, field: state.generate.field, onPoint, texts })}`;
}

function rowsNote({ length }: readonly bigint[], texts: Texts): TemplateResult | typeof nothing {
  return length <= rowsMax ? nothing : html`<p class="note">${texts.generate.firstParts(rowsMax)}</p>`;
}

/** A table of IDs with their parts, the first twenty of them. */
export function idRows(ids: readonly bigint[], lines: readonly string[], layout: Layout, texts: Texts): TemplateResult {
  const { parse } = texts;
  const { columns } = parse.list;
  const heads = [columns.id, columns.time, parse.by, parse.sequence];
  return html`<table class="rows made-rows" role="table">
    <thead role="rowgroup">
      <tr role="row">
        ${heads.map((head) => html`<th scope="col" role="columnheader">${head}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${ids.slice(0, rowsMax).map((id, index) => {
        const parts = partsOf(layout, id);
        const time = parts === undefined ? "" : clockWords(msOf(parts.createTimeNs), 3, "UTC");
        return html`<tr role="row">
          <th scope="row" role="rowheader" class="v">${lines[index]}</th>
          <td role="cell" data-name=${columns.time}>${time}</td>
          <td role="cell" data-name=${parse.by}>${parse.workerOf(parts?.datacenterId, parts?.workerId)}</td>
          <td role="cell" data-name=${parse.sequence}>${parts?.sequence ?? ""}</td>
        </tr>`;
      })}
    </tbody>
  </table>`;
}
