// hls.js with the features that our streams need. Its "light" build lacks separate audio and subtitles; its full build
// is half as large again. This build uses hls.js's source, as its own builds do: constants select features, and empty
// modules replace unused files.

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "esbuild";

/** The source of hls.js; absent if the dashboard comes built. */
const sourceFolder = (): string => join(dirname(createRequire(import.meta.url).resolve("hls.js/package.json")), "src");

const IN = ["SUBTITLES", "ALT_AUDIO"];
const OUT = [
  ...["EME_DRM", "CMCD", "CONTENT_STEERING", "VARIABLE_SUBSTITUTION", "M2TS_ADVANCED_CODECS"],
  ...["MEDIA_CAPABILITIES", "INTERSTITIALS", "IFRAMES"],
];
/** The constants that hls.js's source expects. */
export const HLS_CONSTANTS = {
  __VERSION__: '""',
  ...Object.fromEntries(IN.map((name) => [`__USE_${name}__`, "true"])),
  ...Object.fromEntries(OUT.map((name) => [`__USE_${name}__`, "false"])),
};

/**
 * Controllers that hls.js does not need without their configuration, modules that only they and the constants use, and
 * a loader that is not the default.
 */
const EMPTY =
  /\/hls\.js\/src\/(?:controller\/(?:eme|cmcd|content-steering|interstitials|iframe|fps|cap-level|id3-track|latency)-controller|demux\/(?:audio\/ac3-demuxer|video\/hevc-video-parser|sample-aes|transmuxer-worker)|utils\/(?:cea-608-parser|output-filter|cues|imsc1-ttml-parser|variable-substitution|mediakeys-helper|fetch-loader))\.ts$/;

/** Replaces `hls.js` in a build, which must define HLS_CONSTANTS. */
export const hlsLight: Plugin = {
  name: "hls-light",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^hls\.js$/ }, () => ({ path: join(sourceFolder(), "exports-default.ts") }));
    // A CommonJS module, so that any name can be imported from it: the value is undefined.
    // The polyfill is for browsers that are older than the language of this build.
    onLoad({ filter: /\/hls\.js\/src\/utils\/vttcue\.ts$/ }, () => ({ contents: "export default self.VTTCue;" }));
    onLoad({ filter: EMPTY }, () => ({ contents: "module.exports = undefined;", loader: "js" }));
  },
};
