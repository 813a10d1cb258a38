import { html, nothing, type TemplateResult } from "lit-html";
import { textForms, type TextForm } from "../../src/text/text-form.ts";
import { answer } from "./lab/answer.ts";
import { foundPart, listPart } from "./lab/later-parts.ts";
import { boxLinesMax, pasteBox } from "./lab/paste-box.ts";
import { choose } from "./lab/select-id.ts";
import { readShown } from "./lab/read-shown.ts";
import { idsOfText, type TextId } from "./lab/text-ids.ts";
import { layoutDetail, layoutDetailButton, layoutField, presetTitle } from "./layout-field.ts";
import { firstChoice } from "./layout-choice.ts";
import { lineLengthMax, linesOf } from "./read-line.ts";
import { beginReading } from "./read-lines.ts";
import type { Change, State } from "./state.ts";
import { choiceField } from "./text-field.ts";
import type { Texts } from "./texts/en.ts";

/** Shown while there is nothing to read: a post of 2022 and the message of Discord's own documentation. */
const examples = [
  { text: "1541815603606036480", layout: "twitter" },
  { text: "175928847299117063", layout: "discord" },
] as const;

/** More IDs than this are first of all a list, and the one that is shown is below it. */
const shownFirstMax = 20;

/** The view that finds and reads IDs. */
export function parseView(state: State, change: Change, texts: Texts): TemplateResult {
  const words = texts.parse;
  const ids = idsOfText(state);
  const { text, lines, excluded } = state.parse;
  const isSeveral = ids.length > 1 || excluded.length > 0;
  const shown = html`<div class="found-and-answer" ?data-several=${isSeveral}>
    ${isSeveral ? foundPart(change)?.foundList(state, change, texts, ids) : nothing}
    ${answer(state, change, texts, ids)}
  </div>`;
  const list = lines === undefined ? nothing : listPart(change)?.drawList(state, change, texts, lines);
  return html`<div class="bench">
    <h1>${words.heading}</h1>
    <p class="lead">${words.lead}</p>
    ${pasteBox(state, texts, {
      ids,
      isReadWhole: isReadWhole(state, ids),
      onText: (value) => setText(change, value),
      onPaste: (event) => pasteInto(change, event),
      onDrop: (event) => void dropInto(change, event),
      onPoint: (at) => choose(change, at),
      onExample: (value) => setText(change, value),
      change,
    })}
    <div class="row controls options">
      ${layoutField(state, readAgain(change), texts, "guess")}
      ${choiceField({
        id: "form",
        label: words.form,
        value: state.parse.form ?? "",
        options: [["", words.detect], ...textForms.map((form) => [form, texts.forms[form]] as const)],
        onChange: (value) =>
          setForm(
            change,
            textForms.find((form) => form === value),
          ),
      })}
      ${layoutDetailButton(state, change, texts)}
    </div>
    ${layoutDetail(state, readAgain(change), texts)}
    ${text.trim() === "" ? noText(change, texts) : ids.length > shownFirstMax ? [list, shown] : [shown, list]}
  </div>`;
}

/** Whether a text without a find, or a time, is read as an ID all the same: such as 0, or the highest one. */
function isReadWhole(state: State, [shown]: readonly TextId[]): boolean {
  const { found, text } = state.parse;
  const isPassedOver = found?.finds.length === 0 && found.times.length === 0;
  return isPassedOver && text.trim() !== "" && shown !== undefined && readShown(state, shown).kind === "read";
}

/** Takes a text as if it had been typed. */
export function setText(change: Change, text: string, leftOutCount = 0): void {
  change((state) => ({
    ...state,
    link: "fine",
    parse: { ...state.parse, text, leftOutCount, excluded: [], field: undefined, at: 0, before: undefined },
  }));
  beginReading(change);
}

/** Takes pasted text. One that is short and goes into the field is left to the browser, with the caret and undo. */
export function pasteInto(change: Change, event: ClipboardEvent): void {
  const pasted = event.clipboardData?.getData("text/plain") ?? "";
  const field = event.target instanceof HTMLTextAreaElement ? event.target : undefined;
  if (field !== undefined && !field.readOnly && boxTextOf(pasted).isShort) return;
  event.preventDefault();
  takeText(change, pasted);
}

/** As much of a file as 10,000 long lines have: the rest is not even read. */
const fileBytesMax = 20_000_000;

/** Takes the text of a file that is dropped into the box. */
async function dropInto(change: Change, event: DragEvent): Promise<void> {
  const file = event.dataTransfer?.files[0];
  if (file === undefined) return;
  event.preventDefault();
  takeText(change, await file.slice(0, fileBytesMax).text());
}

function takeText(change: Change, whole: string): void {
  const { text, leftOutCount } = boxTextOf(whole);
  setText(change, text, leftOutCount);
}

/** Of a text of more lines than are read, only the first: a hundred megabytes cost nothing. */
function boxTextOf(whole: string): { readonly text: string; readonly leftOutCount: number; readonly isShort: boolean } {
  const { lines, leftOutCount } = linesOf(whole);
  const isShort = lines.length <= boxLinesMax && whole.length <= boxLinesMax * lineLengthMax;
  // A text field has no carriage returns, and marks count its characters.
  return { text: isShort ? whole.replaceAll("\r\n", "\n") : lines.join("\n"), leftOutCount, isShort };
}

function setForm(change: Change, form: TextForm | undefined): void {
  change((state) => ({ ...state, parse: { ...state.parse, form } }));
  beginReading(change);
}

/** A change of the layout changes every reading. */
function readAgain(change: Change): Change {
  return (next) => {
    change(next);
    beginReading(change);
  };
}

function noText(change: Change, texts: Texts): TemplateResult {
  const show = ({ text, layout }: (typeof examples)[number]): void => {
    change((state) => ({ ...state, layout: { ...firstChoice, name: layout } }));
    setText(change, text);
  };
  return html`<section class="panel pad empty" aria-label=${texts.parse.examples}>
    <p class="note">${texts.parse.empty}</p>
    <div class="row">
      ${examples.map(
        (example) =>
          html`<button type="button" @click=${() => show(example)}>
            ${presetTitle(example.layout)} <code>${example.text}</code>
          </button>`,
      )}
    </div>
  </section>`;
}
