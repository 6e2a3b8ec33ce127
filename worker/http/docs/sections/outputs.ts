// The parameters of outputs, and the conditions that they are made under.
import { CONDITION_VARIABLES } from "#shared/condition/condition-variables.ts";
import { MAX_OUTPUTS } from "#shared/request/outputs/outputs-section.ts";
import type { OpenApiDocument } from "../../openapi/document-shape.ts";
import { block, codes, type Html, html, section } from "../markup.ts";
import { schemaSections } from "../schema-view.ts";

/** Schemas that this section shows, with the headings that they have in it. */
export const OUTPUT_SCHEMAS = {
  VideoParams: "Video and sound",
  ImageParams: "Images",
  HttpStreamParams: "HTTP streams",
  FormatHash: "The format hash",
};

export const outputs = ({ components }: OpenApiDocument): Html =>
  section(
    2,
    "outputs",
    "Outputs",
    html`<p>The value of a format in <code>outputs</code> is an object of parameters, or an array of such objects for several
outputs of one format. A job has at most ${MAX_OUTPUTS} outputs. Each has a <code>key</code>: the one it gives, or its format,
with <code>:1</code>, <code>:2</code> and so on behind it in an array. No two outputs may have the same key or write the same
object. Paths lie below the storage's own <code>path</code> and may hold no <code>.</code> or <code>..</code> parts; where
more than one image may result, the file name needs a counter such as <code>%02d</code>, which begins at 1.</p>`,
    schemaSections(components.schemas, OUTPUT_SCHEMAS),
    streams(),
    conditions(),
  );

const streams = (): Html =>
  section(
    3,
    "streams",
    "What a stream consists of",
    block(STREAM_LAYOUT, "The files of a stream"),
    html`<p>Segments are stored while later ones are still encoded; the playlists that players open, and with
<code>thumbnails</code> a WebVTT file beside them, come last. These few lie at fixed addresses. All else lies in a folder that is new
with every attempt, so that a film made again never mixes with what viewers have open; what the playlists no longer name may be
removed. Unless the storage has a <code>cache_control</code> or <code>expires</code> of its own, files in that folder are stored
with <code>Cache-Control: public, max-age=31536000, immutable</code>, the others with <code>public, max-age=60</code>.</p>
<p>Sound lies in tracks of its own. Segments are cut at the first keyframe at or after each multiple of
<code>segment_duration</code>. HEVC is not for MPEG-TS segments: <code>hls</code> leaves such variants out, and is refused when
it would have no picture left. With <code>hlsfmp4</code> all of them are in the HLS playlists over the segments of
<code>dash</code>.</p>
<p><code>encryption</code> is that of HLS with AES-128, whole segments of <code>hls</code> at a time. Players ask <code>key_uri</code>
for the 16 bytes of the key, which the service neither stores nor serves there. A key that was given is never shown again; one that the
service made is in the <a href="#metadata">metadata</a> of the finished output, and nowhere else.</p>
<p>Subtitles are WebVTT or SubRip. One that cannot be had or read fails the stream with <code>subtitle_failed</code>.</p>`,
  );

const STREAM_LAYOUT = `hls.path/master.m3u8             master playlist
hls.path/<folder>/720p.m3u8      playlists of tracks, and of keyframes unless encrypted
hls.path/<folder>/720p/00001.ts  segments
dash.path/master.mpd             manifest, and with hlsfmp4 master.m3u8
dash.path/<folder>/720p/         init.mp4, 00001.m4s, …
…/<folder>/subtitles-1/          likewise in both packages, thumbnails too`;

const conditions = (): Html =>
  section(
    3,
    "conditions",
    "Conditions",
    html`<p>An output with <code>if</code> is made only if the condition holds for the input; otherwise it is skipped. Conditions are
checked when the job is created and evaluated when the input was probed.</p>`,
    block(
      "{{ input.width }} >= 1280 and not {{ input.is_audio_only }}\n({{ input.rotation }} = 90 or {{ input.rotation }} = 270) and {{ input.duration }} > 60",
      "Conditions",
    ),
    html`<p>Operators: ${codes(["<", ">", "<=", ">=", "<>", "!=", "=", "and", "or", "not"])} and parentheses; texts stand in
quotes. Variables, each with <code>input.</code> in front: ${codes(CONDITION_VARIABLES)}. All that the metadata says can be
asked for as <code>input.metadata.format.…</code> and <code>input.metadata.streams.0.…</code>. Width and height are those of
the coded picture, with <code>rotation</code> beside them. A comparison with what the input lacks is false.</p>`,
  );
