/** Shortens untrusted text of a request for messages. */
export const excerpt = (text: string): string => text.slice(0, SHOWN_CHARS).toWellFormed();

const SHOWN_CHARS = 60;
