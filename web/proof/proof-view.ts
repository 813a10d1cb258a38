import { html, noChange, nothing, type TemplateResult } from "lit-html";
import {
  calmMs,
  calmProcesses,
  type DroppedWhat,
  droppedKinds,
  type ShownStore,
} from "../../test/simulation/shown/dropped-fault.ts";
import { type SwitchedRule, switchedRules } from "../../test/simulation/shown/rule-names.ts";
import { faultsMax, seedMax } from "../../test/simulation/shown/run-link.ts";
import { shownRules } from "../../test/simulation/shown/shown-rules.ts";
import { choiceField, switchButtons } from "../src/text-field.ts";
import type { RunOutcome } from "./outcome.ts";
import { canDrop, chooseStore, drop, type ProofState, remove, showRule, speeds } from "./proof-state.ts";
import { runTable } from "./run-table.ts";
import { safetyLink, safetyPath } from "./safety-link.ts";
import type { ProofTexts } from "./texts/proof-en.ts";

/** The parts that the view needs beside its state. */
export interface ProofParts {
  readonly words: ProofTexts;
  readonly change: (next: (state: ProofState) => ProofState) => void;
  readonly play: () => void;
  /** To the event before, or the next one. */
  readonly step: (by: -1 | 1) => void;
  readonly scrub: (atMs: number) => void;
  readonly copy: () => void;
  /** Whether the reader wants nothing to move by itself. */
  readonly isStill: boolean;
  /** `time`: only what a played run changes. The rest was drawn before, and stays. */
  readonly draws: "all" | "time";
}

/** The view that shows a run of the simulation. */
export function proofView(state: ProofState, parts: ProofParts): TemplateResult {
  const { words, copy } = parts;
  const { copied } = state;
  const rest = (part: () => unknown): unknown => (parts.draws === "all" ? part() : noChange);
  return html`<div class="row proof-head">
      <div>
        <h1>${words.heading}</h1>
        <p class="lead">${words.lead}</p>
      </div>
      <button type="button" class="copy" @click=${copy}>${copied === undefined ? words.copyLink : words.copied[copied]}</button>
    </div>
    ${rest(() => figures(state, parts))}
    <div class="cols proof">
      ${player(state, parts, rest)} ${rest(() => [rules(state, parts), story(state, parts)])}
    </div>
    ${rest(() => prose(words))}`;
}

function problemNote({ problem }: ProofState, { problems }: ProofTexts): TemplateResult | typeof nothing {
  if (problem === undefined) return nothing;
  const text = problem.kind === "failed" ? problems.failed(problem.detail) : problems[problem.kind];
  return html`<p class="warning" role="alert">${text}</p>`;
}

function figure(name: string, value: string, note: string, mood: "ok" | "bad" | "plain"): TemplateResult {
  return html`<div><dt>${name}</dt><dd>${value} <small class=${mood}>${note}</small></dd></div>`;
}

function figures(state: ProofState, { words }: ProofParts): TemplateResult {
  const { outcome, run } = state;
  const { figures: said } = words;
  const title = run.rule === undefined ? said.whole : said.without;
  const equalNote = (count: number, firstMs: number | undefined): string =>
    count === 0 || firstMs === undefined ? said.none : said.equal(count, firstMs);
  return html`${problemNote(state, words)}
    <section class="panel figures proof-figures" aria-label=${said.label} aria-live="polite">
      ${
        outcome === undefined
          ? html`<p class="note pad">${state.problem === undefined ? words.computing : ""}</p>`
          : html`<dl class="parts">
              ${figure(title, said.ids(outcome.issued), equalNote(outcome.equalCount, outcome.equal?.other.atMs), outcome.equalCount === 0 ? "ok" : "bad")}
              ${figure(said.simple, said.ids(outcome.simple.issued), equalNote(outcome.simple.equalCount, outcome.simple.firstEqualMs), outcome.simple.equalCount === 0 ? "plain" : "bad")}
              ${figure(said.silence, said.seconds(outcome.silence.lengthMs), run.rule === undefined ? said.silenceWhole : said.silenceWithout, "plain")}
            </dl>`
      }
    </section>`;
}

function player(state: ProofState, parts: ProofParts, rest: (part: () => unknown) => unknown): TemplateResult {
  const { words, play, step, scrub, isStill } = parts;
  const { player: said } = words;
  const endMs = state.outcome?.endMs ?? 0;
  const atMs = Math.min(state.atMs, endMs);
  return html`<section class="panel player" aria-label=${said.label}>
    <div class="row bar">
      ${
        isStill
          ? nothing
          : html`<button type="button" class="primary" @click=${play}>${state.play === "playing" ? said.pause : said.play}</button>`
      }
      <button type="button" @click=${() => step(-1)}>${said.previous}</button>
      <button type="button" @click=${() => step(1)}>${said.next}</button>
      <output class="v at">${said.at(atMs, endMs)}</output>
      ${
        isStill
          ? nothing
          : switchButtons({
              label: said.speed,
              value: String(state.speed),
              options: speeds.map((speed) => [String(speed), `${speed}×`]),
              onChange: (value) =>
                parts.change((now) => ({ ...now, speed: speeds.find((speed) => String(speed) === value) ?? 1 })),
            })
      }
    </div>
    <div class="scroll">
      <div class="lanes">
        <canvas role="img" aria-label=${pictureName(state, words)}></canvas>
        <input
          type="range"
          min="0"
          max=${endMs}
          step="10"
          aria-label=${said.time}
          .value=${String(atMs)}
          aria-valuetext=${said.at(atMs, endMs)}
          @input=${(event: Event) => scrub(Number((event.target as HTMLInputElement).value))}
        />
      </div>
    </div>
    ${dropping(state, parts)}
    ${rest(() => [
      droppedFaults(state, parts),
      settings(state, parts),
      state.outcome === undefined ? nothing : runTable(state.outcome, words),
    ])}
  </section>`;
}

function pictureName({ outcome }: ProofState, { lanes }: ProofTexts): string {
  const equal = outcome?.equal;
  if (outcome === undefined || equal === undefined) return lanes.picture;
  return `${lanes.picture} ${lanes.equal}: ${lanes.equalIds(String(equal.firstId), outcome.equalCount - 1)}.`;
}

function dropping(state: ProofState, { words, change }: ProofParts): TemplateResult {
  const { drop: said } = words;
  const whats = Object.keys(droppedKinds) as readonly DroppedWhat[];
  const atMs = Math.min(state.atMs, state.outcome?.endMs ?? 0);
  return html`<div class="part" role="group" aria-labelledby="drop-title">
      <div class="row">
        <h2 id="drop-title">${said.title(atMs)}</h2>
        <span class="note" id="drop-target">${said.target}</span>
        ${switchButtons({
          label: said.target,
          value: String(state.target),
          options: Array.from({ length: calmProcesses }, (_, slot) => [String(slot), String(slot)]),
          onChange: (value) => change((now) => ({ ...now, target: Number(value) })),
        })}
      </div>
      <div class="chips">
        ${whats.map(
          (what) =>
            html`<button type="button" ?disabled=${!canDrop(state, what)} @click=${() => change((now) => drop(now, what))}>${said.whats[what]}</button>`,
        )}
      </div>
      <p class="hint">${whyNot(state, said)}</p>
    </div>`;
}

/** Why some faults cannot be dropped in. */
function whyNot({ run, atMs }: ProofState, { late, full, keeps }: ProofTexts["drop"]): string {
  if (atMs > calmMs) return late(calmMs);
  if (run.faults.length >= faultsMax) return full(faultsMax);
  return run.store === "file" ? keeps : "";
}

function droppedFaults({ run: { faults } }: ProofState, { words, change }: ProofParts): TemplateResult {
  const { drop: said } = words;
  return html`<div class="part">
      <h2 id="dropped">${said.dropped}</h2>
      ${faults.length === 0 ? html`<p class="note">${said.none}</p>` : nothing}
      <ul class="chips" aria-labelledby="dropped">
        ${faults.map((fault) => {
          const { what, process, atMs } = fault;
          return html`<li>
            ${said.one(what, process, atMs)}
            <button type="button" aria-label=${said.remove(what, process, atMs)} @click=${() => change((now) => remove(now, fault))}>×</button>
          </li>`;
        })}
      </ul>
      ${
        faults.length < 2
          ? nothing
          : html`<button type="button" class="link" @click=${() => change((now) => ({ ...now, run: { ...now.run, faults: [] } }))}>${said.clear}</button>`
      }
    </div>`;
}

function settings(state: ProofState, { words, change }: ProofParts): TemplateResult {
  const { player: said } = words;
  const { run } = state;
  const setSeed = (seed: number): void => change((now) => ({ ...now, run: { ...now.run, seed } }));
  const takeSeed = ({ target }: Event): void => {
    const field = target as HTMLInputElement;
    const seed = Number(field.value);
    if (Number.isInteger(seed) && seed >= 1 && seed <= seedMax) setSeed(seed);
    else field.value = String(run.seed);
  };
  return html`<div class="part row">
    <div class="field">
      <label for="seed">${said.seed}</label>
      <input id="seed" inputmode="numeric" autocomplete="off" .value=${String(run.seed)} @change=${takeSeed} />
    </div>
    <button type="button" class="beside" @click=${() => setSeed((run.seed % seedMax) + 1)}>${said.another}</button>
    ${choiceField({
      id: "store",
      label: said.store,
      value: run.store,
      options: (["server", "file"] as const).map((store) => [store, said.stores[store]]),
      onChange: (store) => change((now) => chooseStore(now, store as ShownStore)),
    })}
  </div>`;
}

function rules(state: ProofState, parts: ProofParts): TemplateResult {
  const { words, change } = parts;
  const choose = (rule: SwitchedRule | undefined): void => change((now) => ({ ...now, run: { ...now.run, rule } }));
  const choice = (rule: SwitchedRule | undefined, name: string): TemplateResult => {
    const isChosen = state.run.rule === rule;
    return html`<div class="rule">
      <label>
        <input type="radio" name="rule" .checked=${isChosen} @change=${() => choose(rule)} />
        <span>${name}</span>
        ${isChosen && state.outcome !== undefined ? badge(state.outcome) : nothing}
      </label>
      ${isChosen && rule !== undefined ? ruleDetail(state, rule, parts) : nothing}
    </div>`;
  };
  return html`<fieldset class="panel pad rules">
    <legend><h2>${words.rules.title}</h2></legend>
    ${choice(undefined, words.rules.all)} ${switchedRules.map((rule) => choice(rule, words.rules.names[rule]))}
  </fieldset>`;
}

/** The figures say the same in words. */
function badge({ equalCount }: RunOutcome): TemplateResult {
  return html`<b aria-hidden="true" class="badge ${equalCount === 0 ? "ok" : "bad"}">${equalCount}</b>`;
}

/** The sentence that the rule comes from, and runs in which it is needed. */
function ruleDetail({ outcome }: ProofState, rule: SwitchedRule, { words, change }: ProofParts): TemplateResult {
  const { rules: said } = words;
  return html`<blockquote>${said.safety[rule]} <cite><a href=${safetyLink(rule)}>${safetyPath}</a></cite></blockquote>
    <p class="note" role="status">${outcome !== undefined && outcome.equalCount === 0 ? said.harmless : said.shows}</p>
    <div class="chips">
      ${shownRules[rule].seeds.map(
        (seed) =>
          html`<button type="button" @click=${() => change((now) => showRule(now, rule, seed))}>${said.seed(seed)}</button>`,
      )}
    </div>`;
}

function story({ outcome, run }: ProofState, { words, scrub }: ProofParts): TemplateResult {
  const { story: said } = words;
  return html`<section class="panel pad story" aria-labelledby="story">
    <h2 id="story">${said.title}</h2>
    <p class="note">${said.mark}</p>
    <ol>
      ${(outcome?.story ?? []).map(
        (happening) =>
          html`<li class=${happening.kind}>
            <button type="button" class="link" @click=${() => scrub(happening.atMs)}>${said.seconds(happening.atMs)}</button>
            <span>${said.happened(happening, run.rule)}</span>
          </li>`,
      )}
    </ol>
  </section>`;
}

function prose({ words }: ProofTexts): TemplateResult {
  return html`<section class="panel pad wide prose" aria-labelledby="real">
    <h2 id="real">${words.title}</h2>
    ${words.texts.map(([bold, text = ""]) => html`<p><b>${bold}</b> ${withSafetyLink(text)}</p>`)}
  </section>`;
}

/** A text in which the path of the page about safety is a link. */
function withSafetyLink(text: string): unknown {
  const [before, after] = text.split(safetyPath);
  return html`${before}${after === undefined ? nothing : html`<a href=${safetyLink()}>${safetyPath}</a>${after}`}`;
}
