import { html, type TemplateResult } from "lit-html";
import type { Change, State } from "./state.ts";
import type { Texts } from "./texts/en.ts";

/** How long a button says that it copied. */
const shownMs = 2_000;

/** A button that copies a text. */
export interface CopyButton {
  /** Tells the buttons of a view apart. */
  readonly key: string;
  readonly label: string;
  /** The accessible name, where the label alone does not say what is copied. */
  readonly name?: string;
  readonly text: () => string;
}

/** Draws a button that copies a text, and says what came of it. */
export function copyButton(state: State, change: Change, texts: Texts, button: CopyButton): TemplateResult {
  const { key, label, name = label, text } = button;
  const outcome = state.copied?.key === key ? state.copied.outcome : undefined;
  const said = outcome === undefined ? label : texts.copy[outcome];
  return html`<button
    type="button"
    class="copy"
    aria-label=${outcome === undefined ? name : said}
    @click=${() => void copy(change, key, text())}
  >
    ${said}
  </button>`;
}

/** Copies a text, and shows for a moment what came of it at the button that `key` names. */
export async function copy(change: Change, key: string, text: string): Promise<void> {
  const outcome = (await writeClipboard(text)) ? "done" : "refused";
  change((state) => ({ ...state, copied: { key, outcome } }));
  setTimeout(() => {
    change((state) => (state.copied?.key === key ? { ...state, copied: undefined } : state));
  }, shownMs);
}

/** A browser gives the clipboard to pages of https and localhost alone, and the reader may refuse it. */
export async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/** The older way, which needs no permission: a field that nobody sees is selected and copied. */
function copySelected(text: string): boolean {
  const field = document.createElement("textarea");
  const focused = document.activeElement;
  field.className = "offscreen";
  field.value = text;
  document.body.append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}
