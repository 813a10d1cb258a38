import { html, nothing, type TemplateResult } from "lit-html";
import type { Change, State } from "./state.ts";
import type { Texts } from "./texts/en.ts";
import { isToken, setToken } from "./token.ts";

/** Asks for a token where the server wants one; nothing where it does not. `look` asks the server again. */
export function tokenPrompt({ access }: State, change: Change, texts: Texts, look: () => void): TemplateResult {
  const words = texts.access;
  const patch = (parts: Partial<State["access"]>): void =>
    change((state) => ({ ...state, access: { ...state.access, ...parts } }));
  if (access.kind === "open") return html``;
  if (access.kind === "given") {
    const forget = (): void => {
      setToken("");
      patch({ kind: "wanted", typed: "" });
      look();
    };
    return html`<p class="note token-note">
      ${words.given} <button type="button" class="link" @click=${forget}>${words.forget}</button>
    </p>`;
  }
  const canSend = isToken(access.typed) && access.kind !== "asked";
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!canSend) return;
    setToken(access.typed);
    patch({ kind: "asked" });
    look();
  };
  const problem = access.kind === "wrong" ? words.wrong : undefined;
  return html`<form class="panel pad token" aria-labelledby="token-title" @submit=${submit} novalidate>
    <h2 id="token-title">${words.title}</h2>
    <p class="note">${words.lead}</p>
    ${isPlaintext(location) ? html`<p class="warning">${words.plaintext}</p>` : nothing}
    <div class="row controls">
      <div class="field">
        <label for="token">${words.label}</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          spellcheck="false"
          .value=${access.typed}
          aria-invalid=${problem === undefined ? nothing : "true"}
          aria-describedby="token-note"
          @input=${(event: Event) => patch({ kind: "wanted", typed: (event.target as HTMLInputElement).value })}
        />
        <p id="token-note" class=${problem === undefined ? "hint" : "error"} role="status">${problem ?? words.hint}</p>
      </div>
      <button type="submit" class="primary" ?disabled=${!canSend}>${words.use}</button>
    </div>
  </form>`;
}

/** Whether what is typed would cross the network in plaintext. */
function isPlaintext({ protocol, hostname }: Location): boolean {
  const isNear = hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
  return protocol === "http:" && !isNear;
}
