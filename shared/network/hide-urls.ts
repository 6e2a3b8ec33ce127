// URLs in text that clients and operators read, such as what ffmpeg was called with and what it printed.

/** What ffmpeg reads over loopback is the input, which the node serves to it. */
const SERVED = /^https?:\/\/(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?=[:/?#]|$)/i;

/**
 * The text with URLs that have no user, password, query and fragment, because those may be secret. The URL of an input
 * that the node serves to ffmpeg becomes `source`.
 */
export const hideUrls = (text: string): string =>
  text.replace(/\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s'"<>]+/gi, (url) => {
    if (SERVED.test(url)) return "source";
    // An `@` after the first slash may belong to a password that is not percent-encoded.
    return url.replace(/[?#].*/s, "").replace(/^([^:]+:\/\/)[^?#]*@/, "$1");
  });
