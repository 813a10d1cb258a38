import { html, nothing, type TemplateResult } from "lit-html";

/** A field that text is typed into. */
export interface TextField {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly hint?: string | undefined;
  /** Shown under the field and tied to it; undefined: it is right. */
  readonly error?: string | undefined;
  /** The id of an error that concerns several fields, and so is shown once beside them; undefined: there is none. */
  readonly errorId?: string | undefined;
  readonly inputMode?: "numeric" | "text";
  readonly onInput: (value: string) => void;
}

/** Draws a field with its label, its hint and its error. */
export function textField(field: TextField): TemplateResult {
  const { id, label, value, hint, error, errorId, inputMode = "text", onInput } = field;
  const noteId = `${id}-note`;
  const note = error ?? hint;
  const notes = [...(errorId === undefined ? [] : [errorId]), ...(note === undefined ? [] : [noteId])];
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <input
      id=${id}
      .value=${value}
      inputmode=${inputMode}
      autocomplete="off"
      spellcheck="false"
      aria-invalid=${error === undefined && errorId === undefined ? nothing : "true"}
      aria-describedby=${notes.length === 0 ? nothing : notes.join(" ")}
      @input=${(event: Event) => onInput((event.target as HTMLInputElement).value)}
    />
    ${note === undefined ? nothing : html`<p id=${noteId} class=${error === undefined ? "hint" : "error"}>${note}</p>`}
  </div>`;
}

/** A choice of few words. */
export interface ChoiceField {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string) => void;
}

/** Draws a select with its label. */
export function choiceField({ id, label, value, options, onChange }: ChoiceField): TemplateResult {
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <select id=${id} @change=${(event: Event) => onChange((event.target as HTMLSelectElement).value)}>
      ${options.map(([option, text]) => html`<option value=${option} .selected=${option === value}>${text}</option>`)}
    </select>
  </div>`;
}

/** A choice by buttons. */
interface SwitchButtons extends Omit<ChoiceField, "id"> {
  /** An option that cannot be chosen here. */
  readonly disabled?: string | undefined;
}

/** Draws a row of buttons of which one is pressed. */
export function switchButtons({ label, value, options, disabled, onChange }: SwitchButtons): TemplateResult {
  return html`<div class="switch" role="group" aria-label=${label}>
    ${options.map(
      ([option, text]) =>
        html`<button
          type="button"
          aria-pressed=${option === value}
          ?disabled=${option === disabled}
          @click=${() => onChange(option)}
        >
          ${text}
        </button>`,
    )}
  </div>`;
}
