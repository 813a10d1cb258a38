/** The colours of a picture, as the browser resolved them: a canvas does not know light-dark(). */
export interface Inks {
  readonly text: string;
  readonly muted: string;
  readonly panel: string;
  readonly sunk: string;
  readonly bad: string;
  readonly warn: string;
  /** By worker ID. */
  readonly workers: readonly string[];
}

const tokens = {
  text: "--text",
  muted: "--muted",
  panel: "--panel",
  sunk: "--sunk",
  bad: "--bad",
  warn: "--warn",
} as const;
const workerTokens = ["--f-time", "--f-dc", "--f-worker", "--f-seq"];

/** Reads the colours of the theme that a place has now. */
export function readInks(place: HTMLElement): Inks {
  const probe = document.createElement("span");
  place.after(probe);
  const resolved = (token: string): string => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const named = Object.fromEntries(Object.entries(tokens).map(([name, token]) => [name, resolved(token)]));
  const inks = { ...(named as Record<keyof typeof tokens, string>), workers: workerTokens.map(resolved) };
  probe.remove();
  return inks;
}
