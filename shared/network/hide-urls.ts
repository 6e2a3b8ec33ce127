// Hides secrets of URLs in text for clients and operators, such as ffmpeg's arguments and output.

/** URLs on loopback are the input, which the node serves to ffmpeg. */
const SERVED = /^https?:\/\/(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?=[:/?#]|$)/i;

/**
 * Removes user, password, query and fragment from URLs in a text, because they may be secret. The URL of an input that
 * the node serves to ffmpeg becomes `source`.
 */
export const hideUrls = (text: string): string =>
  text.replace(/\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s'"<>]+/gi, (url) => {
    if (SERVED.test(url)) return "source";
    // An `@` after the first slash may belong to a password that is not percent-encoded.
    return url.replace(/[?#].*/s, "").replace(/^([^:]+:\/\/)[^?#]*@/, "$1");
  });
