import { expect, test } from "vitest";
import type { OutputOptions } from "../../testing/output-specs.ts";
import { audioStream, planOf, probed, videoStream } from "../../testing/probes.ts";

const source = (seconds: number, format_name: string) => {
  const duration = `${seconds}.000000`;
  return probed([videoStream(1920, 1080, "25/1", { duration }), audioStream({ duration })], { format_name, duration });
};

const MP4 = "mov,mp4,m4a,3gp,3g2,mj2";
const HOUR = 3600;
const VIDEO: OutputOptions = { format: "mp4:720p" };
const poster: OutputOptions = { format: "jpg:640x", number: 1 };
const few: OutputOptions = { format: "jpg:320x", number: 10 };
const many: OutputOptions = { format: "jpg:160x", params: { interval: 1 } };

/** The outputs of each command, and its number of runs. */
const commandsOf = (seconds: number, formatName: string, ...options: OutputOptions[]): string[] =>
  planOf(source(seconds, formatName), options, { imagesFirst: true }).commands.map(
    ({ outputs, runs }) => `${outputs.map(({ output }) => output).join("+")} in ${runs.length}`,
  );

test.each<[string, string[], string[]]>([
  ["a poster by a seek", commandsOf(HOUR, MP4, VIDEO, poster), ["1 in 1", "0 in 1"]],
  [
    "some thumbnails too, each output by itself, the cheapest first",
    commandsOf(HOUR, MP4, few, VIDEO, poster),
    ["2 in 1", "0 in 2", "1 in 1"],
  ],
  ["not one image a second, which would decode the whole source", commandsOf(HOUR, MP4, VIDEO, many), ["0+1 in 1"]],
  [
    "a poster, and the other images together with the video",
    commandsOf(HOUR, MP4, VIDEO, many, poster),
    ["2 in 1", "0+1 in 1"],
  ],
  ["a poster of a video of eight seconds", commandsOf(8, MP4, VIDEO, poster), ["1 in 1", "0 in 1"]],
  ["none of a video of five seconds, which would be decoded twice", commandsOf(5, MP4, VIDEO, few), ["0+1 in 1"]],
  ["not ten images of half a minute, which the video decodes anyway", commandsOf(30, MP4, VIDEO, few), ["0+1 in 1"]],
  ["no image late in a source without an index", commandsOf(HOUR, "mpegts", VIDEO, poster), ["0+1 in 1"]],
  [
    "an early image of a source without an index",
    commandsOf(HOUR, "mpegts", VIDEO, { format: "jpg", params: { offsets: [20] } }),
    ["1 in 1", "0 in 1"],
  ],
  [
    "all images next to audio, which decodes no video",
    commandsOf(HOUR, "mpegts", { format: "mp3" }, many),
    ["1 in 1", "0 in 1"],
  ],
  ["nothing changes without videos", commandsOf(HOUR, "mpegts", many, poster), ["0+1 in 1"]],
])("images first: %s", (_, commands, expected) => {
  expect(commands).toEqual(expected);
});
