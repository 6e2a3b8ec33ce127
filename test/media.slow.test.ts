// Checks that the clips have the traits on which other tests rely.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { locateFfmpeg } from "../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { fileFolder } from "./fixtures.ts";
import { type ClipName, makeClip } from "./media.ts";

const folder = fileFolder();

const ffprobe = async (argv: string[]): Promise<string> => {
  const tools = await locateFfmpeg(process.env);
  const { stdout } = await promisify(execFile)(tools.ffprobe.path, ["-v", "error", ...argv], {
    env: toolEnvironment(),
  });
  return stdout.trim();
};
const probe = async (name: ClipName): Promise<string> => {
  const entries =
    "stream=codec_type,width,height,r_frame_rate,avg_frame_rate:stream_side_data=rotation:format=start_time";
  return ffprobe(["-show_entries", entries, "-of", "compact=p=0:s=\\ ", await makeClip(name, folder)]);
};

it.each<[ClipName, RegExp]>([
  ["ntsc.mp4", /^codec_type=video width=640 height=360 r_frame_rate=30000\/1001 .*\ncodec_type=audio/],
  ["rotated.mp4", /^codec_type=video width=640 height=360 .*rotation=-?90/],
  ["silent.mp4", /^codec_type=video width=322 height=182 .*\n[^\n]*start_time=\S+$/],
  ["audio-only.m4a", /^codec_type=audio .*\n[^\n]*start_time=\S+$/],
  ["broadcast.ts", /start_time=1\.[34]\d*$/],
])("%s", async (name, traits) => {
  expect(await probe(name)).toMatch(traits);
});

it("uneven.mkv has frames of different durations", async () => {
  const argv = ["-select_streams", "v", "-show_entries", "packet=pts", "-of", "csv=p=0"];
  const lines = await ffprobe([...argv, await makeClip("uneven.mkv", folder)]);
  const times = lines
    .split("\n")
    .map(Number)
    .sort((a, b) => a - b);
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(Math.max(...steps)).toBeGreaterThan(4 * Math.min(...steps));
});

it("text.mp4 is not a media file", async () => {
  await expect(probe("text.mp4")).rejects.toThrow("Invalid data found");
});
