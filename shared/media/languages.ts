// Languages of tracks. Requests have BCP 47 tags; containers state ISO 639-2 codes, in both variants, or BCP 47 tags.

/** BCP 47 tag of a track without a usable language. */
export const UNDETERMINED = "und";

/**
 * Returns the canonical BCP 47 tag of a language code or tag: `de` for `ger`, `deu` and `DE`, `pt-BR` for `pt_BR`. The
 * replacements are those of CLDR. Returns `und` for a missing or malformed tag.
 */
export function languageTag(tag: string | undefined): string {
  try {
    return Intl.getCanonicalLocales(tag?.replaceAll("_", "-"))[0] ?? UNDETERMINED;
  } catch {
    return UNDETERMINED;
  }
}

/**
 * True if a track with the language `tag` has the requested language. A request also matches more specific tags (RFC
 * 4647 §3.3.1, basic filtering): `en` matches `eng` and `en-US`, but `en-US` does not match `en`.
 */
export function matchesLanguage(requested: string, tag: string | undefined): boolean {
  const [wanted, stated] = [languageTag(requested), languageTag(tag)];
  return stated === wanted || stated.startsWith(`${wanted}-`);
}

/**
 * Returns the name of a language in the language itself (`français`), or in English if it is not known there. Null if
 * the tag has no known language.
 */
export function languageName(tag: string): string | null {
  const language = languageTag(tag);
  if (language === UNDETERMINED) return null;
  return new Intl.DisplayNames([language, "en"], { type: "language", fallback: "none" }).of(language) ?? null;
}
