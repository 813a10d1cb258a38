import { calmProcesses } from "../../test/simulation/shown/dropped-fault.ts";
import { readInks, type Inks } from "./inks.ts";
import type { Lane, RunOutcome } from "./outcome.ts";
import type { ProofTexts } from "./texts/proof-en.ts";

/** The part of a picture that is time begins here, in CSS pixels from the left, and ends so far from the right. */
const insets = { left: 92, right: 12 };
const top = 26;
const laneHeight = 66;
const storeHeight = 70;
const axisHeight = 24;

/** The height of the picture, in CSS pixels. */
export const pictureHeight = top + calmProcesses * laneHeight + storeHeight + axisHeight;

/** Puts times of a run into places of its picture, and back. */
export interface Scale {
  readonly x: (atMs: number) => number;
  readonly timeAt: (x: number) => number;
}

/** The scale of a picture of the given width in CSS pixels. */
export function scaleOf(width: number, endMs: number): Scale {
  const inner = width - insets.left - insets.right;
  return {
    x: (atMs) => insets.left + (Math.min(Math.max(atMs, 0), endMs) / endMs) * inner,
    timeAt: (x) => (Math.min(Math.max(x - insets.left, 0), inner) / inner) * endMs,
  };
}

/** A run to be drawn, and the words in it. */
interface Drawn {
  readonly outcome: RunOutcome;
  readonly words: ProofTexts;
}

/**
 * The picture of a run on a canvas. It is drawn once for each run and width; a frame copies it, and covers the part
 * that has not come yet.
 */
export class LanePicture {
  readonly #canvas: HTMLCanvasElement;
  readonly #whole = document.createElement("canvas");
  #inks: Inks;
  #width = 0;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    this.#inks = readInks(canvas);
  }

  /** The width in CSS pixels that the picture was drawn for: a frame that asked the canvas would have it laid out. */
  get width(): number {
    return this.#width;
  }

  /** Draws a whole run, in the colours that the page has now. */
  draw({ outcome, words }: Drawn): void {
    const ratio = devicePixelRatio;
    const width = this.#canvas.clientWidth;
    this.#width = width;
    for (const canvas of [this.#canvas, this.#whole]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(pictureHeight * ratio);
    }
    this.#inks = readInks(this.#canvas);
    const pen = this.#whole.getContext("2d")!;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const painter = { pen, inks: this.#inks, scale: scaleOf(width, outcome.endMs), outcome, words };
    for (const [slot, lane] of outcome.lanes.entries()) paintLane(painter, slot, lane);
    paintRuns(painter);
    paintMarks(painter);
    paintFaults(painter);
    paintEqual(painter);
    paintAxis(painter);
  }

  /** Takes the picture away. @returns What it is drawn with, in points of the screen. */
  clear(): CanvasRenderingContext2D {
    const pen = this.#canvas.getContext("2d")!;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    return pen;
  }

  /** Shows the run up to a time; later parts are pale. */
  show(outcome: RunOutcome, atMs: number): void {
    const pen = this.clear();
    const ratio = devicePixelRatio;
    pen.drawImage(this.#whole, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const x = scaleOf(this.width, outcome.endMs).x(atMs);
    pen.globalAlpha = 0.72;
    pen.fillStyle = this.#inks.panel;
    pen.fillRect(x, 0, this.width - x, pictureHeight - axisHeight);
    pen.globalAlpha = 1;
    pen.fillStyle = this.#inks.text;
    pen.fillRect(x - 0.75, top - 8, 1.5, pictureHeight - axisHeight - top + 8);
    pen.beginPath();
    pen.arc(x, top - 8, 4.5, 0, 2 * Math.PI);
    pen.fill();
  }
}

interface Painter extends Drawn {
  readonly pen: CanvasRenderingContext2D;
  readonly inks: Inks;
  readonly scale: Scale;
}

const laneTop = (slot: number): number => top + slot * laneHeight;
const storeTop = laneTop(calmProcesses);
const bold = "600 12px system-ui, sans-serif";
const plain = "500 11px system-ui, sans-serif";

function write({ pen }: Painter, text: string, x: number, y: number, ink: string, font = plain): void {
  pen.font = font;
  pen.fillStyle = ink;
  pen.fillText(text, x, y);
}

/** Words inside a bar, where they have room. */
function writeInside(painter: Painter, text: string, fromX: number, toX: number, y: number, ink: string): void {
  painter.pen.font = bold;
  if (painter.pen.measureText(text).width + 12 <= toX - fromX) write(painter, text, fromX + 6, y, ink, bold);
}

function bar({ pen }: Painter, fromX: number, toX: number, y: number, height: number): void {
  pen.beginPath();
  pen.roundRect(fromX, y, Math.max(toX - fromX, 1.5), height, 4);
}

function paintLane(painter: Painter, slot: number, { grants, waits, stops }: Lane): void {
  const { pen, inks, scale, words, outcome } = painter;
  const y = laneTop(slot);
  write(painter, words.lanes.process(slot), 0, y + 30, inks.text, bold);
  pen.fillStyle = inks.sunk;
  bar(painter, scale.x(0), scale.x(outcome.endMs), y, laneHeight - 14);
  pen.fill();
  for (const { fromMs, toMs } of waits) {
    bar(painter, scale.x(fromMs), scale.x(toMs), y + 10, 30);
    pen.fillStyle = hatch(pen, inks.warn);
    pen.fill();
    writeInside(painter, words.lanes.waits, scale.x(fromMs), scale.x(toMs), y + 30, inks.warn);
  }
  for (const { fromMs, toMs, worker } of grants) {
    const ink = inks.workers[worker]!;
    bar(painter, scale.x(fromMs), scale.x(toMs), y + 10, 30);
    pen.globalAlpha = 0.16;
    pen.fillStyle = ink;
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    pen.stroke();
    writeInside(painter, words.lanes.worker(worker), scale.x(fromMs), scale.x(toMs), y + 23, ink);
  }
  pen.fillStyle = inks.bad;
  for (const { fromMs, toMs } of stops) pen.fillRect(scale.x(fromMs), y + 46, scale.x(toMs) - scale.x(fromMs), 3);
}

function hatch(pen: CanvasRenderingContext2D, ink: string): CanvasPattern {
  const tile = document.createElement("canvas");
  tile.width = 8;
  tile.height = 8;
  const stripes = tile.getContext("2d")!;
  stripes.strokeStyle = ink;
  stripes.globalAlpha = 0.45;
  stripes.lineWidth = 1.5;
  for (const shift of [-8, 0, 8]) {
    stripes.moveTo(shift - 1, 9);
    stripes.lineTo(shift + 9, -1);
  }
  stripes.stroke();
  return pen.createPattern(tile, "repeat")!;
}

/** A tick for all IDs that were drawn at once, the higher the more. */
function paintRuns({ pen, inks, scale, outcome }: Painter): void {
  for (const { atMs, slot, count, isEqual } of outcome.runs) {
    pen.fillStyle = isEqual ? inks.bad : inks.muted;
    const height = Math.min(12, 3 + Math.log2(1 + count) * 1.1);
    pen.fillRect(scale.x(atMs), laneTop(slot) + 40 - height, isEqual ? 2.5 : 1.5, height);
  }
}

/** A line for each mark, from its write to the time that it allows; those of a worker ID are in one row. */
function paintMarks(painter: Painter): void {
  const { pen, inks, scale, outcome, words } = painter;
  write(painter, words.lanes.store, 0, storeTop + 28, inks.text, bold);
  write(painter, words.lanes.marks, 0, storeTop + 43, inks.muted);
  pen.fillStyle = inks.sunk;
  bar(painter, scale.x(0), scale.x(outcome.endMs), storeTop, storeHeight - 8);
  pen.fill();
  for (const [worker, ink] of inks.workers.entries()) {
    write(painter, String(worker), insets.left - 12, storeTop + 15 + worker * 14, ink, bold);
  }
  for (const { atMs, worker, untilMs } of outcome.marks) {
    const ink = inks.workers[worker];
    if (ink === undefined) continue;
    const y = storeTop + 11 + worker * 14;
    pen.fillStyle = ink;
    pen.globalAlpha = 0.45;
    pen.fillRect(scale.x(atMs), y - 1.5, Math.max(scale.x(untilMs) - scale.x(atMs), 1), 3);
    pen.globalAlpha = 1;
    pen.beginPath();
    pen.arc(scale.x(atMs), y, 2.4, 0, 2 * Math.PI);
    pen.fill();
  }
}

const storeWhats: ReadonlySet<string> = new Set(["wipe", "older", "failover"]);

function paintFaults(painter: Painter): void {
  const { pen, inks, scale, outcome, words } = painter;
  pen.strokeStyle = inks.bad;
  pen.lineWidth = 1.5;
  // Where the last words of each row end: those of the next fault go below the row if they meet.
  const endXs = new Map<number, number>();
  for (const { atMs, what, slot } of outcome.faults) {
    const isOfStore = storeWhats.has(what);
    const x = scale.x(atMs);
    const [fromY, toY] = isOfStore ? [top - 4, storeTop + storeHeight - 8] : [laneTop(slot), laneTop(slot) + 52];
    pen.setLineDash(isOfStore ? [4, 3] : []);
    pen.beginPath();
    pen.moveTo(x, fromY);
    pen.lineTo(x, toY);
    pen.stroke();
    const text = words.lanes.faults[what];
    pen.font = bold;
    const { width } = pen.measureText(text);
    const textX = x + width + 8 > scale.x(outcome.endMs) ? x - width - 5 : x + 5;
    const row = isOfStore ? -1 : slot;
    const isFree = textX > (endXs.get(row) ?? 0);
    if (isFree) endXs.set(row, textX + width + 4);
    const [aboveY, belowY] = isOfStore
      ? [top - 10, pictureHeight - axisHeight + 6]
      : [laneTop(slot) + 8, laneTop(slot) + 62];
    write(painter, text, textX, isFree ? aboveY : belowY, inks.bad, bold);
  }
  pen.setLineDash([]);
}

/** The arc between the two places at which one ID was issued. */
function paintEqual(painter: Painter): void {
  const { pen, inks, scale, outcome, words } = painter;
  if (outcome.equal === undefined) return;
  const { one, other, firstId } = outcome.equal;
  const [fromX, fromY] = [scale.x(one.atMs), laneTop(one.slot) + 34];
  const [toX, toY] = [scale.x(other.atMs), laneTop(other.slot) + 34];
  const bend = one.slot === other.slot ? -46 : 0;
  pen.strokeStyle = inks.bad;
  pen.lineWidth = 2.2;
  pen.beginPath();
  pen.moveTo(fromX, fromY);
  pen.bezierCurveTo(fromX + 12, fromY + bend - 8, toX - 12, toY + bend - 8, toX, toY);
  pen.stroke();
  for (const [x, y] of [[fromX, fromY] as const, [toX, toY] as const]) {
    pen.beginPath();
    pen.arc(x, y, 5, 0, 2 * Math.PI);
    pen.fillStyle = inks.bad;
    pen.fill();
  }
  const lines = [words.lanes.equal, words.lanes.equalIds(String(firstId), outcome.equalCount - 1)] as const;
  pen.font = bold;
  const width = Math.max(...lines.map((line) => pen.measureText(line).width)) + 20;
  const boxX = Math.min(toX + 12, scale.x(outcome.endMs) - width);
  pen.fillStyle = inks.panel;
  bar(painter, boxX, boxX + width, toY - 22, 40);
  pen.fill();
  pen.lineWidth = 1;
  pen.stroke();
  for (const [index, line] of lines.entries()) write(painter, line, boxX + 10, toY - 6 + index * 16, inks.bad, bold);
}

function paintAxis(painter: Painter): void {
  const { pen, inks, scale, outcome } = painter;
  const step = scale.x(1_000) - scale.x(0) < 34 ? 2_000 : 1_000;
  pen.textAlign = "center";
  for (let atMs = 0; atMs <= outcome.endMs; atMs += step) {
    write(painter, `${atMs / 1_000} s`, scale.x(atMs), pictureHeight - 6, inks.muted);
  }
  pen.textAlign = "start";
}
