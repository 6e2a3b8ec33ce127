// Languages of tracks. Requests have BCP 47 tags; containers state ISO 639-2 codes, in both variants, or BCP 47 tags.

/** BCP 47 tag of a track without a usable language. */
export const UNDETERMINED = "und";

/**
 * Returns the canonical BCP 47 tag of a language code or tag: `de` for `ger`, `deu` and `DE`, `pt-BR` for `pt_BR`. The
 * replacements are those of CLDR. Matroska files may hold an English name. Returns `und` for other text.
 */
export function languageTag(tag: string | undefined): string {
  try {
    const [canonical = UNDETERMINED] = Intl.getCanonicalLocales(tag?.replaceAll("_", "-"));
    // No language has a subtag of more letters (RFC 5646 §2.2.1).
    if (/^[a-z]{2,3}\b/.test(canonical)) return canonical;
  } catch {
    // A name of several words.
  }
  return TAG_OF_NAME.get(tag?.toLowerCase() ?? "") ?? UNDETERMINED;
}

/**
 * True if a track with the language `tag` has the requested language. A request also matches more specific tags (RFC
 * 4647 §3.3.1, basic filtering): `en` matches `eng` and `en-US`, but `en-US` does not match `en`. Norwegian (`no`)
 * includes Bokmål and Nynorsk.
 */
export function matchesLanguage(requested: string, tag: string | undefined): boolean {
  const [wanted, stated] = [languageTag(requested), languageTag(tag)];
  return stated === wanted || stated.startsWith(`${wanted}-`) || (wanted === "no" && /^n[bn]\b/.test(stated));
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

/** ISO 639-2/T codes of all languages with a two-letter code. */
const CODES =
  "aar abk afr aka amh ara arg asm ava ave aym aze bak bam bel ben bis bod bos bre bul cat ces cha che chu chv " +
  "cor cos cre cym dan deu div dzo ell eng epo est eus ewe fao fas fij fin fra fry ful gla gle glg glv grn guj " +
  "hat hau heb her hin hmo hrv hun hye ibo ido iii iku ile ina ind ipk isl ita jav jpn kal kan kas kat kau kaz " +
  "khm kik kin kir kom kon kor kua kur lao lat lav lim lin lit ltz lub lug mah mal mar mkd mlg mlt mon mri msa " +
  "mya nau nav nbl nde ndo nep nld nno nob nor nya oci oji ori orm oss pan pli pol por pus que roh ron run rus " +
  "sag san sin slk slv sme smo sna snd som sot spa sqi srd srp ssw sun swa swe tah tam tat tel tgk tha tir ton " +
  "tsn tso tuk tur uig ukr urd uzb ven vie vol wln wol xho yid yor zha zho zul";
const CODE_OF: ReadonlyMap<string, string> = new Map(CODES.split(" ").map((code) => [languageTag(code), code]));

const ENGLISH = new Intl.DisplayNames("en", { type: "language" });
const TAG_OF_NAME: ReadonlyMap<string, string> = new Map(
  [...CODE_OF.keys()].map((tag) => [(ENGLISH.of(tag) ?? tag).toLowerCase(), tag]),
);

/** ISO 639-2/B codes and others of QuickTime's languages, where they differ from ISO 639-2/T (ffmpeg's isom.c). */
const QUICKTIME_CODES: ReadonlyMap<string, string> = new Map(
  "deu:ger nld:dut swe:sve ell:gre isl:ice zho:chi sqi:alb hye:arm kat:geo bod:tib mya:bur msa:may mkd:mac"
    .split(" ")
    .map((pair) => [pair.slice(0, 3), pair.slice(4)]),
);

/** Returns a language as QuickTime files hold it; many languages have no code there. */
export function quickTimeLanguage(tag: string): string {
  const code = languageCode(tag);
  return QUICKTIME_CODES.get(code) ?? code;
}

/** Returns the ISO 639-2/T code of a BCP 47 tag, as containers hold it: `deu` for `de-AT`. */
export function languageCode(tag: string): string {
  const [language = UNDETERMINED] = languageTag(tag).split("-");
  return CODE_OF.get(language) ?? (language.length === 3 ? language : UNDETERMINED);
}
