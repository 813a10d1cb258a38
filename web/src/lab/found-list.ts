import { html, nothing, type TemplateResult } from "lit-html";
import type { ParsedId } from "../../../src/snowflake/parse.ts";
import { copy } from "../copy-button.ts";
import { presetTitle } from "../layout-field.ts";
import { placeByKey } from "../move-focus.ts";
import type { Change, State } from "../state.ts";
import type { Texts } from "../texts/en.ts";
import { clockWords, isoDay, msOf } from "../time-words.ts";
import { leaveOut, takeBack } from "./leave-out.ts";
import { choose } from "./select-id.ts";
import type { TextId } from "./text-ids.ts";

/** More than these are found in the table of the list, which has a filter in place of leaving out single ones. */
const shownMax = 200;

/** What a row is drawn from. */
interface FoundRow {
  readonly id: TextId;
  readonly index: number;
  /** Whether the row is the one that is shown, and the one in the order of Tab. */
  readonly isShown: boolean;
  readonly inTabOrder: boolean;
  readonly canLeaveOut: boolean;
}

/** Draws the IDs that were found, each with its time. Keys move among them, copy one, or leave one out. */
export function foundList(state: State, change: Change, texts: Texts, ids: readonly TextId[]): TemplateResult {
  const words = texts.parse;
  const { at: wanted, excluded } = state.parse;
  const at = Math.min(wanted, ids.length - 1);
  const shown = ids.slice(0, shownMax);
  const canLeaveOut = ids.length <= shownMax;
  const outcome = shown.map(({ start }) => outcomeOf(state, start)).find((known) => known !== undefined);
  return html`<section class="panel found" aria-labelledby="found-title">
    <h2 id="found-title">${words.found}</h2>
    <ul @keydown=${(event: KeyboardEvent) => useKey(event, change, { shown, canLeaveOut })}>
      ${shown.map((id, index) =>
        foundRow(state, change, texts, {
          id,
          index,
          isShown: index === at,
          inTabOrder: index === at || (at >= shownMax && index === 0),
          canLeaveOut,
        }),
      )}
    </ul>
    <span class="spoken" role="status">${outcome === undefined ? nothing : texts.copy[outcome]}</span>
    ${ids.length > shownMax ? html`<p class="note">${words.moreFound(ids.length - shownMax)}</p>` : nothing}
    ${canLeaveOut ? html`<p class="note keys">${words.foundKeys}</p>` : nothing}
    ${
      excluded.length === 0
        ? nothing
        : html`<button type="button" class="link" @click=${() => takeBack(change)}>${words.takeBack(excluded.length)}</button>`
    }
  </section>`;
}

function foundRow(state: State, change: Change, texts: Texts, row: FoundRow): TemplateResult {
  const { id, index, isShown, inTabOrder, canLeaveOut } = row;
  const outcome = outcomeOf(state, id.start);
  const place = inTabOrder ? "0" : "-1";
  const drop = (event: Event): void => dropRow(event, change, { id, index });
  return html`<li>
    <button
      type="button"
      class="find"
      aria-current=${isShown ? "true" : nothing}
      tabindex=${place}
      @click=${() => choose(change, index)}
    >
      <span class="id">${state.parse.text.slice(id.start, id.end)}</span> ${badge(id, texts)}
      <span class="sub ${outcome ?? ""}">${outcome === undefined ? subOf(id, texts) : texts.copy[outcome]}</span>
    </button>
    ${
      canLeaveOut
        ? html`<button type="button" class="leave" aria-label=${texts.parse.leaveOut(index + 1)} tabindex=${place} @click=${drop}>
            ×
          </button>`
        : nothing
    }
  </li>`;
}

/** Tells the rows apart for what came of copying one. */
function copyKey(start: number): string {
  return `found-${start}`;
}

function outcomeOf({ copied }: State, start: number): "done" | "refused" | undefined {
  return copied?.key === copyKey(start) ? copied.outcome : undefined;
}

/** The names that the makers of other IDs gave them: they are the same in every language. */
const makersKinds = { ulid: "ULID", ksuid: "KSUID", objectid: "ObjectId", xid: "xid", typeid: "TypeID" } as const;

/** What a reader should know of an ID before its time: how it is written, and whether digits were lost. */
function badge({ find }: TextId, texts: Texts): TemplateResult | typeof nothing {
  const { badges } = texts.parse;
  if (find?.notes.includes("rounded") === true) return html`<span class="badge warn">${badges.rounded}</span>`;
  const kind = find?.kind ?? "decimal";
  if (kind === "decimal" || kind === "grouped" || kind === "float") return nothing;
  if (kind === "unsigned") return html`<span class="badge">${badges.unsigned}</span>`;
  return html`<span class="badge">${{ ...texts.forms, ...makersKinds }[kind]}</span>`;
}

function subOf({ reading }: TextId, texts: Texts): string {
  const { parse } = texts;
  if (reading === undefined || reading.kind === "refused") return parse.noId;
  const { parsed, uuid, foreign } = reading.source;
  const timeNs = parsed?.createTimeNs ?? uuid?.createTimeNs ?? foreign?.createTimeNs;
  if (timeNs === undefined) return parse.uuid.noTime;
  const ms = msOf(timeNs);
  const time = `${isoDay(ms)} ${clockWords(ms, 0, "UTC")}`;
  return parsed === undefined ? time : `${time} · ${titleOf(parsed, texts)}`;
}

function titleOf({ layout }: ParsedId, texts: Texts): string {
  return layout.name === "custom" ? texts.layout.custom : presetTitle(layout.name);
}

/** The arrow keys choose another row, Enter copies the ID of the one that has the focus, and Delete leaves it out. */
function useKey(
  event: KeyboardEvent,
  change: Change,
  { shown, canLeaveOut }: { readonly shown: readonly TextId[]; readonly canLeaveOut: boolean },
): void {
  const list = event.currentTarget as HTMLElement;
  const rows = [...list.querySelectorAll(".find")];
  const index = rows.indexOf(event.target as Element);
  const id = shown[index];
  // On the other button of a row, keys do what they do on any.
  if (id === undefined) return;
  const place = placeByKey(event.key, index, shown.length);
  if (place !== undefined) {
    choose(change, place);
    (rows[place] as HTMLElement).focus();
  } else if (event.key === "Enter") void copy(change, copyKey(id.start), id.text);
  else if (event.key === "Delete" && canLeaveOut) dropRow(event, change, { id, index });
  else return;
  event.preventDefault();
}

/** Leaves the ID of a row out; the focus goes to the same button of the row that follows. */
function dropRow(event: Event, change: Change, { id, index }: Pick<FoundRow, "id" | "index">): void {
  const button = event.target as Element;
  const section = button.closest("section");
  leaveOut(change, id);
  // Behind the drawing, which is queued as well.
  queueMicrotask(() => {
    const rows = section?.querySelectorAll<HTMLElement>(`.${button.className}`) ?? [];
    const next = rows[Math.min(index, rows.length - 1)] ?? section?.querySelector<HTMLElement>("button");
    next?.focus();
  });
}
