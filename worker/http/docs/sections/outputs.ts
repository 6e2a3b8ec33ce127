// The parameters of outputs, and conditions.
import { CONDITION_VARIABLES } from "#shared/condition/condition-variables.ts";
import { MAX_OUTPUTS } from "#shared/request/outputs/outputs-section.ts";
import type { OpenApiDocument } from "../../openapi/document-shape.ts";
import { block, codes, type Html, html, section } from "../markup.ts";
import { schemaSections } from "../schema-view.ts";

/** The schemas of this section, with their headings.*/
export const OUTPUT_SCHEMAS = {
  VideoParams: "Video and audio",
  ImageParams: "Images",
  TextParams: "Text",
  HttpStreamParams: "HTTP streams",
  FormatHash: "The format hash",
};

export const outputs = ({ components }: OpenApiDocument): Html =>
  section(
    2,
    "outputs",
    "Outputs",
    html`<p>The value of a format in <code>outputs</code> is an object of parameters, or an array of such objects for several
outputs with the same format. A job has at most ${MAX_OUTPUTS} outputs. Each output has a <code>key</code>. The default is the
format, followed by <code>:1</code>, <code>:2</code> and so on in an array. Two outputs must not have the same key or write the
same object. Paths are relative to the <code>path</code> of the storage and must not contain the segments <code>.</code> or
<code>..</code>. If there may be more than one image, the file name must contain a counter such as <code>%02d</code>, which
starts at 1.</p>`,
    schemaSections(components.schemas, OUTPUT_SCHEMAS),
    streams(),
    conditions(),
  );

const streams = (): Html =>
  section(
    3,
    "streams",
    "Files of a stream",
    block(STREAM_LAYOUT, "The files of a stream"),
    html`<p>Segments are uploaded while later segments are still encoded. The playlists that players open, and the WebVTT file of
<code>thumbnails</code>, are uploaded last and have fixed paths. All other files are in a folder that is new for every attempt, so
that the files of another attempt never mix with the files that players use. You may delete files that the playlists no longer
contain. If the storage has no <code>cache_control</code> or <code>expires</code>, files in that folder are stored with
<code>Cache-Control: public, max-age=31536000, immutable</code>, and the others with <code>public, max-age=60</code>.</p>
<p>With <code>live_playlist</code> the playlists are stored with the first two segments and grow with the stream, uncached, so that
players can start while the job is at a few percent; <code>live</code> of the output has their URLs. At the end they are replaced by
the complete ones, at the same URLs.</p>
<p>Audio is in separate tracks. Segments start at the first keyframe at or after each multiple of
<code>segment_duration</code>. MPEG-TS segments do not support HEVC: <code>hls</code> omits HEVC variants, unless all variants with
video are HEVC; then its segments are fragmented MP4. With <code>hlsfmp4</code>, HLS playlists with the segments of
<code>dash</code> contain all variants.</p>
<p><code>encryption</code> encrypts whole segments of <code>hls</code> with AES-128. Players load the 16 bytes of the key from
<code>key_uri</code>; the service does not store or serve the key there. The service never returns a key from the request. A key
that the service created is in the <a href="#metadata">metadata</a> of the finished output.</p>
<p><code>audio</code> gives a stream several audio tracks. Each is a rendition in the group of each audio format in HLS, and an
adaptation set in DASH.</p>
<p><code>subtitles</code> are text tracks of the input or WebVTT, SubRip, ASS and TTML files. If a track cannot be fetched or read, the
stream fails with <code>subtitle_failed</code>; if the input lacks it, with <code>input_track_not_found</code>.</p>`,
  );

const STREAM_LAYOUT = `hls.path/master.m3u8             master playlist
hls.path/<folder>/720p.m3u8      playlists of tracks, and of keyframes unless encrypted
hls.path/<folder>/720p/00001.ts  segments
dash.path/master.mpd             manifest, and with hlsfmp4 master.m3u8
dash.path/<folder>/720p/         init.mp4, 00001.m4s, …
…/<folder>/subtitles-1/          in both packages, like thumbnails`;

const conditions = (): Html =>
  section(
    3,
    "conditions",
    "Conditions",
    html`<p>An output with <code>if</code> is created only if the condition is true for the input; otherwise it is skipped. Conditions
are validated when the job is created, and evaluated after the input is probed.</p>`,
    block(
      "{{ input.width }} >= 1280 and not {{ input.is_audio_only }}\n({{ input.rotation }} = 90 or {{ input.rotation }} = 270) and {{ input.duration }} > 60",
      "Conditions",
    ),
    html`<p>Operators: ${codes(["<", ">", "<=", ">=", "<>", "!=", "=", "and", "or", "not"])} and parentheses. Put
strings in quotes. Variables, each with the prefix <code>input.</code>: ${codes(CONDITION_VARIABLES)}. All metadata is available
as <code>input.metadata.format.…</code> and <code>input.metadata.streams.0.…</code>. Width and height describe the coded
frame, before <code>rotation</code>. A comparison with a variable that the input does not have is false.</p>`,
  );
