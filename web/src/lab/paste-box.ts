import { html, nothing, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import type { Find, FoundTime } from "../../../src/text/find/find.ts";
import { copyButton } from "../copy-button.ts";
import { linesMax } from "../read-line.ts";
import type { Change, State } from "../state.ts";
import type { Texts } from "../texts/en.ts";
import { findsLeft } from "./excluded.ts";
import { linkOf } from "./page-link.ts";
import type { TextId } from "./text-ids.ts";

/** A browser takes seconds to lay out a text field of thousands of lines or marks: it shows only the start of those. */
export const boxLinesMax = 500;
const boxLengthMax = 50_000;
const shownLinesMax = 200;
const shownLengthMax = 20_000;

/** An example of many kinds: a log, a mention, JSON, a link, a number that lost its digits, and texts of others. */
const example = `2022-06-28T16:07:40.105Z INFO order 1541815603606036522 created by <@175928847299117063>
{"id":"1541815603606036523","ts":1656432460105,"trace":"4bf92f3577b34da6a3ce929d0e0e4736"}
https://discord.com/channels/41771983423143937/127121515262115840   excel: 1.54181560360604E+18
user_01h2xcejqtf2nbrexx3vqjhp41  0181ab11-8149-75e8-82af-cd06cf6470a3`;

/** What the box shows, and what it tells of what the reader does. */
interface PasteBox {
  readonly ids: readonly TextId[];
  /** Whether the text is read as an ID, although the search passes it over. */
  readonly isReadWhole: boolean;
  readonly onText: (text: string) => void;
  readonly onPaste: (event: ClipboardEvent) => void;
  readonly onDrop: (event: DragEvent) => void;
  /** An ID is pointed at: by a press into its mark, or by the caret. */
  readonly onPoint: (index: number) => void;
  readonly onExample: (text: string) => void;
  readonly change: Change;
}

/**
 * Draws the box for any text: a text field whose letters are clear, over a copy of its text that has the marks. Both
 * have one font and one width, so that the marks lie under the letters.
 */
export function pasteBox(state: State, texts: Texts, box: PasteBox): TemplateResult {
  const words = texts.parse;
  const { text, leftOutCount, lines, found, excluded } = state.parse;
  const isLong = text.length > boxLengthMax || (lines !== undefined && lines.count > boxLinesMax);
  const shown = isLong ? firstLines(text, shownLinesMax).slice(0, shownLengthMax) : text;
  const chosen = box.ids.length > 1 ? box.ids[state.parse.at]?.start : undefined;
  const finds = findsLeft(state.parse);
  const marks = guard([found, excluded, chosen, shown], () =>
    found === undefined ? [shown] : markedText(marksOf(finds, found.times), chosen, shown),
  );
  return html`<div class="box" aria-busy=${found === undefined && text.trim() !== "" ? "true" : "false"}>
    <div class="area">
      <pre aria-hidden="true">${marks}${"\n"}</pre>
      <textarea
        id="ids"
        aria-label=${words.ids}
        aria-describedby="found"
        spellcheck="false"
        autocomplete="off"
        placeholder=${words.placeholder}
        .value=${shown}
        ?readonly=${isLong}
        @input=${(event: Event) => box.onText((event.target as HTMLTextAreaElement).value)}
        @paste=${box.onPaste}
        @dragover=${(event: Event) => event.preventDefault()}
        @drop=${box.onDrop}
        @scroll=${followScroll}
        @click=${(event: Event) => pointAt(event, box)}
        @keyup=${(event: Event) => pointAt(event, box)}
      ></textarea>
    </div>
    <div class="box-foot">
      <p id="found" role="status">${found === undefined ? nothing : box.isReadWhole ? words.readWhole : words.foundCount(finds.length, found.times.length)}</p>
      ${leftOutCount === 0 ? nothing : html`<p class="hint left-out" role="status">${words.leftOut(linesMax, leftOutCount)}</p>`}
      ${isLong ? html`<p class="hint">${words.shortened}</p>` : nothing}
      <div class="spacer"></div>
      ${
        text === ""
          ? html`<button type="button" class="ghost" @click=${() => box.onExample(example)}>${words.exampleLog}</button>`
          : html`<button type="button" class="ghost clear" @click=${() => box.onText("")}>${words.clear}</button>`
      }
      ${linkButton(state, box.change, texts)}
    </div>
  </div>`;
}

function linkButton(state: State, change: Change, texts: Texts): TemplateResult {
  const link = linkOf(state);
  if (link === undefined) return html`<button type="button" class="ghost" disabled>${texts.parse.linkTooLong}</button>`;
  const text = (): string => location.origin + location.pathname + link;
  return copyButton(state, change, texts, { key: "link", label: texts.parse.copyLink, text });
}

/** The text up to the end of a line. */
function firstLines(text: string, count: number): string {
  let end = -1;
  for (let line = 0; line < count; line++) {
    const next = text.indexOf("\n", end + 1);
    if (next === -1) return text;
    end = next;
  }
  return text.slice(0, end);
}

/** A part of the text that is marked. */
interface Mark {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
  readonly look: string;
}

function markedText(
  marks: readonly Mark[],
  chosen: number | undefined,
  text: string,
): readonly (string | TemplateResult)[] {
  const parts: (string | TemplateResult)[] = [];
  let from = 0;
  for (const { start, end, kind, look } of marks) {
    if (end > text.length) break;
    const isChosen = start === chosen ? " on" : "";
    const mark = html`<mark class=${look + isChosen} data-kind=${kind}>${text.slice(start, end)}</mark>`;
    parts.push(text.slice(from, start), mark);
    from = end;
  }
  return [...parts, text.slice(from)];
}

function marksOf(finds: readonly Find[], times: readonly FoundTime[]): readonly Mark[] {
  const marks = [
    ...finds.map(({ start, end, kind, notes }) => ({
      start,
      end,
      kind,
      look: notes.includes("rounded") ? "lost" : "id",
    })),
    ...times.map(({ start, end }) => ({ start, end, kind: "time", look: "time" })),
  ];
  return marks.toSorted((one, other) => one.start - other.start);
}

function followScroll(event: Event): void {
  const field = event.target as HTMLTextAreaElement;
  const copy = field.previousElementSibling;
  if (copy !== null) copy.scrollTop = field.scrollTop;
}

/** The ID in which the caret is. */
function pointAt(event: Event, { ids, onPoint }: PasteBox): void {
  const field = event.target as HTMLTextAreaElement;
  const caret = field.selectionStart;
  if (caret !== field.selectionEnd) return;
  const index = ids.findIndex(({ start, end }) => start <= caret && caret <= end);
  if (index >= 0) onPoint(index);
}
