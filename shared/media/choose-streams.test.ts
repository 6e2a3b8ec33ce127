import { describe, expect, it } from "vitest";
import { inputVariables } from "../condition/condition-variables.ts";
import { chooseTracks } from "../plan/source/source-tracks.ts";
import { chooseTexts } from "../plan/text/choose-texts.ts";
import { textTracks } from "../plan/text/text-tracks.ts";
import { audioStream, videoStream } from "../testing/probes.ts";
import { bestInLanguage, chosenAudio, chosenVideo, undecodable } from "./choose-streams.ts";
import type { ProbedStream } from "./media-probe.ts";
import { sourceFacts } from "./source-facts.ts";

const video = (width: number, height: number, more: Partial<ProbedStream> = {}) =>
  videoStream(width, height, "25/1", { pix_fmt: "yuv420p", ...more });
const audio = (channels: number, more: Partial<ProbedStream> = {}) =>
  audioStream({ index: 0, sample_fmt: "fltp", channels, ...more });
const marked = { disposition: { default: 1 } };
const cover = { disposition: { attached_pic: 1, default: 1 } };

const rows: [name: string, streams: ProbedStream[], video: number | undefined, audio: number | undefined][] = [
  ["the larger of two default videos", [video(320, 180, marked), video(480, 270, marked)], 1, undefined],
  ["the larger of two others", [video(480, 270), video(320, 180)], 0, undefined],
  ["a small default one before HD", [video(1920, 1080), video(320, 180, marked)], 1, undefined],
  ["8K before a small default one", [video(320, 180, marked), video(7680, 4320)], 1, undefined],
  ["the first of equal ones", [video(640, 360), video(640, 360)], 0, undefined],
  ["never cover art", [video(3000, 3000, cover), video(64, 36)], 1, undefined],
  ["none but cover art", [video(3000, 3000, cover), audio(2)], undefined, 1],
  ["a video that can be decoded", [video(1920, 1080, { codec_name: undefined }), video(64, 36)], 1, undefined],
  ["the first audio", [audio(2), audio(6)], undefined, 0],
  ["the default audio", [audio(6), audio(2, marked)], undefined, 1],
  ["of default ones that with most channels", [audio(1, marked), audio(2, marked), audio(2, marked)], undefined, 1],
  [
    "the audio of the video's program",
    [audio(2, { ...marked, programs: [1] }), video(64, 36, { programs: [2] }), audio(1, { programs: [1, 2] })],
    1,
    2,
  ],
  [
    "audio of no program rather than that of another channel that cannot be decoded",
    [audio(2, { programs: [1], codec_tag_string: "enca" }), video(64, 36, { programs: [2] }), audio(1)],
    1,
    2,
  ],
  ...["visual_impaired", "hearing_impaired", "descriptions", "comment"].map((kind): (typeof rows)[number] => [
    `the main audio rather than one that is ${kind}`,
    [audio(6, { disposition: { [kind]: 1, default: 1 } }), audio(2)],
    undefined,
    1,
  ]),
  ["the original rather than a dub", [audio(2, { disposition: { dub: 1 } }), audio(2)], undefined, 1],
  ["a default dub", [audio(2), audio(2, { disposition: { dub: 1, default: 1 } })], undefined, 1],
  ["an audio that can be decoded", [audio(6, { ...marked, codec_tag_string: "enca" }), audio(2)], undefined, 1],
];

describe("with several streams, every output uses", () => {
  it.each(rows)("%s", (_, several, videoIndex, audioIndex) => {
    const streams = several.map((stream, index) => ({ ...stream, index }));
    const probe = { streams, format: { duration: "10" } };
    const tracks = chooseTracks(probe);
    expect([chosenVideo(streams)?.index, chosenAudio(streams)?.index]).toEqual([videoIndex, audioIndex]);
    expect([tracks.video?.streamIndex, tracks.audio?.streamIndex]).toEqual([videoIndex, audioIndex]);
    const width = videoIndex === undefined ? undefined : streams[videoIndex]?.width;
    const channels = audioIndex === undefined ? undefined : streams[audioIndex]?.channels;
    expect([sourceFacts(probe).video?.codedWidth, sourceFacts(probe).audio?.channels]).toEqual([width, channels]);
    expect([inputVariables(probe)("input.width"), inputVariables(probe)("input.channels")]).toEqual([width, channels]);
  });
});

it.each([
  [["comment", "default"], []],
  [["hearing_impaired", "default"], []],
  [["visual_impaired"], ["dub"]],
  [["forced", "default"], ["hearing_impaired"]],
  [[], ["default"]],
])("prefers to a track with the dispositions %j a track of the same language with %j", (less, more) => {
  const tracks = (of: Partial<ProbedStream>): ProbedStream[] =>
    [less, more].map((names, index) => {
      const disposition = Object.fromEntries(names.map((name) => [name, 1]));
      return { ...audio(2), ...of, index, tags: { language: "eng" }, disposition };
    });
  const audios = chooseTracks({ streams: tracks({}), format: {} }).audios;
  const texts = textTracks({ streams: tracks({ codec_type: "subtitle", codec_name: "subrip" }) });
  expect(bestInLanguage("en", audios, () => true)?.streamIndex).toBe(1);
  expect(chooseTexts([{ from: "en" }], texts)).toMatchObject({ value: { texts: [{ source: { track: texts[1] } }] } });
});

it.each<[string, ProbedStream, string | null]>([
  ["a known codec, before anything of it is decoded", video(64, 36, { pix_fmt: undefined }), null],
  ["a codec with a decoder of another name", audio(2, { codec_name: "dts" }), null],
  [
    "a name without a decoder",
    audio(2, { codec_name: "mpegh_3d_audio", sample_fmt: undefined }),
    "audio is mpegh_3d_audio, which",
  ],
  [
    "no name but the container's",
    video(64, 36, { codec_name: undefined, codec_tag_string: "dav1" }),
    "video is dav1, which",
  ],
  ["no name", audio(2, { codec_name: undefined, codec_tag_string: "[0][0][0][0]" }), "audio has an unknown codec"],
  [
    "Dolby Vision without a base layer for others",
    video(64, 36, { side_data_list: [{ dv_profile: 5, dv_bl_signal_compatibility_id: 0 }] }),
    "video is Dolby Vision profile 5, whose colors",
  ],
  ["DV over HLG", video(64, 36, { side_data_list: [{ dv_profile: 8, dv_bl_signal_compatibility_id: 4 }] }), null],
  ["Matroska's encryption", video(64, 36, { tags: { enc_key_id: "AAAA" } }), "video is encrypted"],
  ["FairPlay", audio(2, { codec_tag_string: "drms" }), "audio is encrypted"],
])("detects streams without a decoder from the probe: %s", (_, stream, why) => {
  const reason = undecodable(stream)?.reason ?? null;
  expect(reason).toEqual(why === null ? null : expect.stringContaining(why));
});
