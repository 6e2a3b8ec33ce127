import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { truncated } from "../../testing/source-workshop.ts";
import {
  lateAudio,
  lateVideo,
  oneFrame,
  secondAudio,
  silentTrack,
  type TrackSource,
  videoLost,
} from "../../testing/sources/track-sources.ts";
import { tools } from "../../testing/task-deps.ts";
import { workshopOfFile } from "../../testing/workshop-of-file.ts";
import { type ListedPacket, listPackets } from "../frame-index/run-packet-listing.ts";
import { probeFile, probeWithPackets } from "./probe.ts";

const { ffprobe } = tools;
const { signal } = new AbortController();
const workshop = workshopOfFile();

const VIDEO = "-f lavfi -i testsrc2=s=64x36:r=25:d=3";
const AUDIO = "-f lavfi -i sine=r=48000:d=3";
const X264 = "-c:v libx264 -preset ultrafast -bf 3 -g 25 -pix_fmt yuv420p";
const clip =
  (options: string): TrackSource =>
  ({ make }, extension) =>
    make(`clip.${extension}`, `${VIDEO} ${AUDIO} ${options}`);
const cut =
  (share: number, options = ""): TrackSource =>
  async ({ make, edit }, extension) => {
    await make(`whole.${extension}`, `${VIDEO} ${AUDIO} ${X264} -c:a aac ${options || "-movflags +faststart"}`);
    return edit(`whole.${extension}`, `cut.${extension}`, truncated(share));
  };
/** Starts after a keyframe: an edit list hides the frames before. */
const edited: TrackSource = async ({ make }) => {
  await make("long.mp4", `${VIDEO} ${AUDIO} ${X264} -c:a aac`);
  return make("edited.mp4", "-ss 1.4 -i long.mp4 -c copy");
};
/** H.264 whose second half has frames of another size, as its parameter sets in the track say. */
const resized: TrackSource = async ({ make, edit, folder }) => {
  await make("small.h264", `${VIDEO} ${X264}`);
  await make("large.h264", `${VIDEO} -s 128x72 ${X264}`);
  const large = await readFile(join(folder, "large.h264"));
  await edit("small.h264", "both.h264", (small) => Buffer.concat([small, large]));
  return make("resized.mp4", "-r 25 -i both.h264 -c copy -tag:v avc3");
};
const UNEVEN = "-vf select='not(between(mod(t,1),0.25,0.5))' -fps_mode vfr";

it.each<[string, string, TrackSource]>([
  ["B-frames", "mp4", clip(`${X264} -c:a aac`)],
  ["a variable frame rate", "mov", clip(`${X264} ${UNEVEN} -c:a pcm_s16le`)],
  ["an edit list", "mp4", edited],
  ["fragments", "mp4", clip(`${X264} -c:a aac -movflags frag_keyframe+empty_moov`)],
  ["a lost end", "mp4", cut(0.6)],
  ["a lost fragment", "mp4", cut(0.6, "-movflags frag_keyframe+empty_moov")],
  ["damaged frames", "mp4", videoLost],
  ["late audio", "mp4", lateAudio],
  ["late video", "mov", lateVideo],
  ["audio without packets", "mp4", silentTrack],
  ["several tracks of audio", "mp4", secondAudio],
  ["parsed audio of a variable bitrate", "mp4", clip("-c:v mpeg4 -bf 2 -c:a libmp3lame -q:a 5")],
  ["parsed surround sound", "mov", clip("-c:v prores_ks -c:a ac3 -ac 6")],
  ["open groups of pictures", "mp4", clip("-c:v libx265 -preset ultrafast -x265-params log-level=none -c:a libopus")],
  ["frames of another size", "mp4", resized],
  ["a single frame", "mp4", oneFrame],
])("lists the packets of a file with %s in the run that reads its headers: %s", async (_, extension, make) => {
  const path = await make(workshop, extension);
  const packets: ListedPacket[] = [];
  const isClean = await listPackets({ ffprobe, source: { path }, argv: [] }, signal, (packet) => packets.push(packet));
  const probe = await probeFile(ffprobe, path);
  expect(packets.length).toBeGreaterThan(0);
  expect(await probeWithPackets({ ffprobe, path })).toEqual({ probe, listed: { packets, isClean } });
});
