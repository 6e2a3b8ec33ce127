// Sources that change midway, or whose audio is unusual. Each is generated within seconds.
import { readFile } from "node:fs/promises";
import type { SourceWorkshop } from "../source-workshop.ts";
import type { RealWorldSource } from "./real-world-sources.ts";

const WHITE = (size: string) => `-f lavfi -i color=white:s=${size}:r=25:d=1`;
const TONE = "-f lavfi -i sine=r=48000:d=1";
const X264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p";

/** An MPEG-TS with consecutive parts of a second each, as a broadcast changes. `options`: ffmpeg's options by part. */
async function broadcast({ make, edit }: SourceWorkshop, name: string, options: readonly string[]): Promise<string> {
  const parts: string[] = [];
  for (const [at, option] of options.entries()) {
    const times = `-muxdelay 0 -muxpreload 0 -output_ts_offset ${10 + at}`;
    parts.push(await make(`${at}-${name}`, `${option} ${times} -mpegts_flags initial_discontinuity`));
  }
  const bytes = await Promise.all(parts.map((part) => readFile(part)));
  return edit(`0-${name}`, name, () => Buffer.concat(bytes));
}

/** Landscape, portrait, landscape: a phone that is turned during a call. */
export const turnedPhone: RealWorldSource = (workshop) =>
  broadcast(
    workshop,
    "turned.ts",
    ["64x48", "48x64", "64x48"].map((size) => `${WHITE(size)} ${TONE} ${X264} -c:a mp2`),
  );

/** 4:3, then 16:9. */
export const wideFromTheMiddle: RealWorldSource = (workshop) =>
  broadcast(
    workshop,
    "wide.ts",
    ["64x48", "128x72", "64x48"].map((size) => `${WHITE(size)} ${TONE} -c:v mpeg2video -q:v 2 -c:a mp2`),
  );

/** Mono, stereo with another sample rate, mono; `lateSeconds` after the video. */
export const changingAudio =
  (lateSeconds: number): RealWorldSource =>
  async (workshop) => {
    const part = (channels: number, hz: number) => `${TONE} -c:a mp2 -ac ${channels} -ar ${hz}`;
    const name = `changing-${lateSeconds}`;
    await broadcast(workshop, `${name}-audio.ts`, [part(1, 48_000), part(2, 44_100), part(1, 48_000)]);
    await workshop.make(`${name}-video.mp4`, `-f lavfi -i color=white:s=64x48:r=25:d=${3 + lateSeconds} ${X264}`);
    const inputs = `-i ${name}-video.mp4 -itsoffset ${lateSeconds} -i ${name}-audio.ts`;
    return workshop.make(`${name}.ts`, `${inputs} -map 0:v -map 1:a -c copy -muxdelay 0 -muxpreload 0`);
  };

/** The sphere of a camera that records in all directions: a tone from the left. */
export const ambisonicAudio: RealWorldSource = ({ make }) => {
  const sphere = "-af pan=ambisonic\\ 1|c0=c0|c1=c0|c2=0*c0|c3=0*c0 -c:a libopus -mapping_family 2";
  return make("ambisonic.mkv", `${WHITE("64x48")} ${TONE} ${X264} ${sphere}`);
};

/** Two channels of a multiplex. The video of the second is larger, its audio is louder. */
export const multiplex: RealWorldSource = ({ make }) => {
  const inputs = `${WHITE("64x48")} ${WHITE("96x64")} ${TONE}`;
  const maps = "-map 0 -map 2 -map 1 -map 2 -filter:a:0 volume=-20dB -program st=0:st=1 -program st=2:st=3";
  return make("multiplex.ts", `${inputs} ${maps} ${X264} -c:a mp2`);
};

/** A song whose video is its cover, in a single frame. */
export const oneFrameSong: RealWorldSource = ({ make }) =>
  make("song.mp4", `-f lavfi -i testsrc2=s=64x48:r=25:d=0.04 -f lavfi -i sine=d=13 ${X264} -c:a aac`);

/** A recording of a screen on which nothing changes for 20 s. */
export const stillScreen: RealWorldSource = ({ make }) => {
  const frames = "setpts=PTS+gt(N\\,0)*20/TB";
  return make(
    "screen.mp4",
    `-f lavfi -i testsrc2=s=64x48:r=25:d=1 -vf ${frames} -fps_mode vfr -enc_time_base 1/90000 ${X264} -crf 4`,
  );
};

/** The color matrix 3, which is reserved. `options` state it in the stream or in the container. */
export const reservedMatrix =
  (name: string, options: string): RealWorldSource =>
  ({ make }) =>
    make(name, `${WHITE("64x48")} ${TONE} -c:a mp2 ${options}`);

/** Containers and streams in which packets may lack presentation times, with reordered frames. */
export const reorderedFrames =
  (name: string, encoder: string): RealWorldSource =>
  ({ make }) =>
    make(name, `-f lavfi -i testsrc2=s=64x48:r=25:d=1 -c:v ${encoder} -bf 2 -pix_fmt yuv420p`);

/** MPEG-4 as DivX stored it in AVI: a packet with two frames, then a packet without a frame of its own. */
export const packedFrames: RealWorldSource = async ({ make, edit }) => {
  await make(
    "unpacked.avi",
    "-f lavfi -i testsrc2=s=64x48:r=25:d=1 -c:v mpeg4 -bf 1 -b_strategy 0 -sc_threshold 1000000000",
  );
  return edit("unpacked.avi", "packed.avi", (bytes) => {
    const list = bytes.indexOf("movi");
    const frames: Buffer[] = [];
    for (let at = list + 4; bytes.toString("latin1", at, at + 4) === "00dc"; ) {
      const size = bytes.readUInt32LE(at + 4);
      frames.push(bytes.subarray(at + 8, at + 8 + size));
      at += 8 + size + (size % 2);
    }
    const packets = frames.map((frame, at) => {
      const isReordered = (index: number): boolean => codingType(frames[index]) === 2;
      if (isReordered(at)) return NOT_CODED;
      return isReordered(at + 1) ? Buffer.concat([frame, frames[at + 1] ?? frame]) : frame;
    });
    const chunks = packets.map((packet) => {
      const head = Buffer.from("00dc\0\0\0\0", "latin1");
      head.writeUInt32LE(packet.length, 4);
      return Buffer.concat([head, packet, Buffer.alloc(packet.length % 2)]);
    });
    const movi = Buffer.concat([Buffer.from("movi"), ...chunks]);
    const start = Buffer.from(bytes.subarray(0, list));
    start.writeUInt32LE(movi.length, list - 4);
    start.writeUInt32LE(start.length + movi.length - 8, 4);
    return Buffer.concat([start, movi]);
  });
};

/** A VOP that is not coded (ISO/IEC 14496-2 §6.2.5), as DivX wrote it. */
const NOT_CODED = Buffer.from("000001b6567f", "hex");

/** `vop_coding_type`: 0 for I, 1 for P, 2 for B. */
function codingType(frame: Buffer | undefined): number | null {
  const vop = frame?.indexOf(Buffer.from("000001b6", "hex")) ?? -1;
  return frame && vop >= 0 ? (frame[vop + 4] ?? 0) >> 6 : null;
}
