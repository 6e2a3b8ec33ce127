// A clip with closed captions in its frames, as broadcasts have them: CEA-608 in messages of ATSC A/53.
import { execFile } from "node:child_process";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { REFERENCE_FFMPEG } from "../plan-runs.ts";
import type { SourceWorkshop } from "../source-workshop.ts";

const run = promisify(execFile);

export type Pair = readonly [number, number];

/** Commands come twice (CEA-608). */
export const twice = (code: number): Pair[] => [pairOf(code), pairOf(code)];
const pairOf = (code: number): Pair => [code >> 8, code & 255];

/** Letters in pairs. */
export const lettersOf = (text: string): Pair[] =>
  (text.match(/.{1,2}/g) ?? []).map((two) => [two.charCodeAt(0), two.length === 2 ? two.charCodeAt(1) : 0x20]);

/** A pair for each frame. `timeline`: pairs that start at the given frames, in order. */
export function pairsByFrame(timeline: readonly (readonly [frame: number, pairs: readonly Pair[]])[]): Pair[] {
  const pairs: Pair[] = [];
  for (const [frame, more] of timeline) {
    pairs.push(...Array.from({ length: frame - pairs.length }, (): Pair => [0, 0]), ...more);
  }
  return pairs;
}

const withOddParity = (byte: number): number =>
  byte | ([...byte.toString(2)].filter((bit) => bit === "1").length % 2 === 0 ? 0x80 : 0);

/**
 * A unit of supplemental information with two bytes of each field (ITU-T H.264 §7.3.2.3.1, A/53 part 4 §6.2.3).
 */
function captionUnit(first: Pair, second: Pair): Buffer {
  const head = Buffer.from("00000001060411b500314741393403c2ff", "hex");
  const fields = [0xfc, ...first.map(withOddParity), 0xfd, ...second.map(withOddParity)];
  return Buffer.concat([head, Buffer.from([...fields, 0xff, 0x80])]);
}

/**
 * A video of 64x36 with a keyframe each second and one pair of each field in each frame, named `captioned.h264`.
 */
export async function captionFrames(
  { make, edit }: SourceWorkshop,
  [first, second]: readonly [readonly Pair[], readonly Pair[]],
  { fps, seconds }: { readonly fps: string; readonly seconds: number },
): Promise<string> {
  const x264 = "-c:v libx264 -preset ultrafast -bf 0 -g 30 -sc_threshold 0 -x264-params aud=1 -pix_fmt yuv420p";
  await make("plain.h264", `-f lavfi -i testsrc2=s=64x36:r=${fps}:d=${seconds} ${x264}`);
  return edit("plain.h264", "captioned.h264", (bytes) => {
    const delimiter = Buffer.from("0000000109", "hex");
    const frames: Buffer[] = [];
    for (let from = bytes.indexOf(delimiter); from >= 0; ) {
      const next = bytes.indexOf(delimiter, from + 1);
      const end = from + delimiter.length + 1;
      const unit = captionUnit(first[frames.length] ?? [0, 0], second[frames.length] ?? [0, 0]);
      frames.push(Buffer.concat([bytes.subarray(from, end), unit, bytes.subarray(end, next < 0 ? undefined : next)]));
      from = next;
    }
    return Buffer.concat(frames);
  });
}

/** Four seconds at 30 frames per second. The text is shown from 1 to 3 s. */
export async function captionedClip(workshop: SourceWorkshop, text: string): Promise<string> {
  const pairs = pairsByFrame([
    [0, [...twice(0x1420), ...twice(0x1470), ...lettersOf(text)]],
    [30, twice(0x142f)],
    [90, twice(0x142c)],
  ]);
  await captionFrames(workshop, [pairs, []], { fps: "30", seconds: 4 });
  const audio = "-f lavfi -i sine=r=48000:d=4 -c:v copy -c:a aac";
  return workshop.make("captioned.mp4", `-r 30 -i captioned.h264 ${audio}`);
}

/** The captions in the frames of a file, as SubRip. */
export async function captionsOf(file: string): Promise<string> {
  const argv = `-v error -f lavfi -i movie=${basename(file)}[out0+subcc] -map 0:s -f srt -`.split(" ");
  const { stdout } = await run(REFERENCE_FFMPEG, argv, { env: toolEnvironment(), cwd: dirname(file) });
  return stdout.replace(/<[^>]+>|\{[^}]+\}/g, "");
}
