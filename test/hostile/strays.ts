// Files that name other files, on this machine or in the network, so that a reader might open those, too.
import { basename } from "node:path";
import { element, join, le32, u8, u16, u32 } from "./forge.ts";
import { aviWithText, matroska, movie } from "./small-clips.ts";

/** Bait that must not be opened: the `url` of a server, and the `path` of a video on this machine's disk. */
export type Bait = { readonly url: string; readonly path: string };
export type Stray = {
  readonly bytes: (bait: Bait) => string | Buffer;
  /** `none`: not a media file. `own`: has its own frames, and the outputs show only these. */
  readonly holds: "none" | "own";
};

const playlist = (uri: string): string => `#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n${uri}\n#EXT-X-ENDLIST\n`;
const none = (bytes: Stray["bytes"]): Stray => ({ bytes, holds: "none" });
const ownBytes = (bytes: Stray["bytes"]): Stray => ({ bytes, holds: "own" });

const manifest = (url: string): string => `<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT9S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">
<Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1" width="16" height="16">
<BaseURL>${url}</BaseURL><SegmentBase indexRange="0-9"/></Representation></AdaptationSet></Period></MPD>`;

const composition = (url: string): string => `<?xml version="1.0"?>
<CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016"><Id>urn:uuid:1</Id><EditRate>24 1</EditRate>
<SegmentList><Segment><Id>${url}</Id></Segment></SegmentList></CompositionPlaylist>`;

const session = (url: string): string => {
  const { port } = new URL(url);
  return `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\na=control:${url}\nm=video ${port} RTP/AVP 96\na=rtpmap:96 H264/90000\n`;
};

const drawing = (url: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="16" height="16"><image xlink:href="${url}" width="16" height="16"/></svg>`;

/**
 * Subtitles inside AVI packets, which are probed like files (CVE-2017-9993): name, two bytes, length, then the file.
 */
const gab2 = (content: string): Buffer =>
  join("GAB2\0", u8(2, 0), le32(2), u8(0x61, 0), u8(4, 0), le32(content.length), content);

/** An alias record (Inside Macintosh: Files) with an absolute path, as libavformat reads it (mov.c, mov_read_dref). */
function alias(path: string): Buffer {
  const padded = path.length % 2 === 0 ? path : `${path}\0`;
  const tail = join(u16(2), u16(path.length), padded, u16(0xffff), u16(0));
  const body = join(
    u32(0),
    Buffer.alloc(10 + 1 + 27 + 12),
    u8(1),
    "f",
    Buffer.alloc(62),
    Buffer.alloc(16),
    u16(1),
    u16(1),
    Buffer.alloc(16),
    tail,
  );
  return join(u32(body.length + 8), "alis", body);
}

const secondTrackOf = (path: string): Buffer => {
  const body = join(u32(0), path, "\0");
  return join(u32(body.length + 8), "url ", body);
};

const linked = (path: string): Buffer =>
  join(
    element(0x3cb923, Buffer.alloc(16, 1)),
    element(0x3c83ab, path),
    element(0x3eb923, Buffer.alloc(16, 2)),
    element(0x3e83bb, path),
  );

export const STRAYS: Readonly<Record<string, Stray>> = {
  "a playlist of an address": none(({ url }) => playlist(url)),
  "a playlist of a file": none(({ path }) => playlist(`file://${path}`)),
  "a playlist that joins files": none(({ path, url }) => playlist(`concat:${path}|${url}`)),
  "a playlist of a part of a file": none(({ path }) => playlist(`subfile,,start,0,end,0,,:${path}`)),
  "a playlist with a key at an address": none(
    ({ url }) => `#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXT-X-KEY:METHOD=AES-128,URI="${url}"\n#EXTINF:9,\ndata:,x\n`,
  ),
  "a manifest of an address": none(({ url }) => manifest(url)),
  "a manifest of a file": none(({ path }) => manifest(`file://${path}`)),
  "a concat script of an address": none(({ url }) => `ffconcat version 1.0\nfile ${url}\n`),
  "a concat script of a file": none(({ path }) => `ffconcat version 1.0\nfile ${path}\n`),
  "a concat script of a neighbour": none(({ path }) => `ffconcat version 1.0\nfile ${basename(path)}\n`),
  "a session description": none(({ url }) => session(url)),
  "a composition playlist": none(({ url }) => composition(url)),
  "a drawing that names an image": none(({ url }) => drawing(url)),
  "a drawing for ImageMagick": none(
    ({ url }) => `push graphic-context\nviewbox 0 0 16 16\nimage over 0,0 16,16 "${url}"\npop graphic-context\n`,
  ),
  "an AVI with a playlist of an address as its subtitles": ownBytes(({ url }) => aviWithText(gab2(playlist(url)))),
  "an AVI with a playlist of a file as its subtitles": ownBytes(({ path }) => aviWithText(gab2(playlist(path)))),
  "a Matroska video that continues in another file": ownBytes(({ path }) => matroska({ info: linked(path) })),
  "a movie whose samples are in another file": none(({ path }) => movie({ reference: alias(path) })),
  "a movie whose samples are at an address": ownBytes(({ url }) => movie({ reference: secondTrackOf(url) })),
};
