import { en, type Texts } from "./texts/en.ts";

/** The languages of the page, each by its own name. */
export const languageNames = { en: "English", zh: "中文", sw: "Kiswahili" } as const;

/** One of them. */
export type Language = keyof typeof languageNames;

/** All of them, in their order. */
export const languages = Object.keys(languageNames) as readonly Language[];

/** Loads the texts of a language: English is there, every other one is a chunk of its own. */
export const textsOf: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: async () => en,
  zh: async () => (await import("./texts/zh.ts")).zh,
  sw: async () => (await import("./texts/sw.ts")).sw,
};

/** For readers of traditional characters, in these: the page has its Chinese in simplified ones alone. */
export const simplifiedNote = "本頁以簡體中文顯示，尚無繁體版本。";

/** Whether the first Chinese that a reader wants is that of traditional characters. */
export function wantsTraditional(wanted: readonly string[]): boolean {
  const first = wanted.find((tag) => /^zh\b/i.test(tag)) ?? "";
  return /-(?:hant|tw|hk|mo)\b/i.test(first) && !/-hans\b/i.test(first);
}

/** The first of the reader's languages that the page has; English where it has none of them. */
export function languageOf(wanted: readonly string[]): Language {
  const known = wanted.map((tag) => languages.find((language) => tag.toLowerCase().split("-")[0] === language));
  return known.find((language) => language !== undefined) ?? "en";
}
