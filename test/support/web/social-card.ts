import { readFileSync } from "node:fs";
import { en } from "../../../web/src/texts/en.ts";

const [, description = ""] = /"og:description" content="([^"]+)"/.exec(readFileSync("web/index.html", "utf8")) ?? [];

/** The words of the picture that a shared link shows. */
export const socialWords: readonly string[] = ["Snowlane", en.about.sentence, description];

/** Its bits: the ID of the page's first example, in the colours of its fields. */
const id = 1_541_815_603_606_036_522n.toString(2).padStart(64, "0");
const fields = [
  [0, 1, "#5f656c"],
  [1, 42, "#1f5fd0"],
  [42, 47, "#8436e8"],
  [47, 52, "#a04a00"],
  [52, 64, "#0b7569"],
] as const;

/** A page of 1,200 by 630 pixels, which is the picture. */
export function socialCard(): string {
  const bits = fields
    .map(([from, to, colour]) => {
      const cells = Array.from(
        id.slice(from, to),
        (bit) => `<i style="background:${bit === "1" ? colour : `color-mix(in srgb, ${colour} 15%, white)`}"></i>`,
      );
      return `<span>${cells.join("")}</span>`;
    })
    .join("");
  const [name, sentence, lead] = socialWords;
  return `<!doctype html><style>
    body { margin: 0; width: 1200px; height: 630px; box-sizing: border-box; padding: 90px 80px; background: #f6f7f9;
      color: #12151a; font-family: Inter, system-ui, "DejaVu Sans", sans-serif; display: flex; flex-direction: column; gap: 28px; }
    header { display: flex; align-items: center; gap: 20px; font-size: 44px; font-weight: 700; letter-spacing: -0.02em; }
    svg { width: 56px; height: 56px; fill: none; stroke: #1f5fd0; stroke-width: 2; stroke-linecap: round; }
    h1 { margin: 0; font-size: 54px; line-height: 1.15; letter-spacing: -0.03em; }
    p { margin: 0; font-size: 27px; line-height: 1.4; color: #5a626e; }
    div { margin-top: auto; display: flex; gap: 8px; }
    span { display: flex; gap: 3px; }
    i { width: 12.2px; height: 56px; border-radius: 3px; }
  </style>
  <header><svg viewBox="0 0 24 24"><path d="M12 2v20M4 7l16 10M4 17 20 7M12 6l-3-2m3 2 3-2M12 18l-3 2m3-2 3 2"/></svg>${name}</header>
  <h1>${sentence}</h1><p>${lead}</p><div>${bits}</div>`;
}
