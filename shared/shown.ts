/** Text of a request, which may be any, as far as messages repeat it. */
export const shown = (text: string): string => text.slice(0, SHOWN_CHARS).toWellFormed();

const SHOWN_CHARS = 60;
