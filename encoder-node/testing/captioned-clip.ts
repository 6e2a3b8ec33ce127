// A clip with closed captions in its frames, as broadcasts have them: CEA-608 in messages of ATSC A/53.
import { execFile } from "node:child_process";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { toolEnvironment } from "../ffmpeg/sandbox/tool-environment.ts";
import { REFERENCE_FFMPEG } from "./plan-runs.ts";
import type { SourceWorkshop } from "./source-workshop.ts";

const run = promisify(execFile);

/** Two bytes in each of the 30 frames of a second: loads a row of text, shows it from 1 s on, and removes it at 3 s. */
function captionPairs(text: string): (readonly [number, number])[] {
  const [load, row, show, erase] = [0x1420, 0x1470, 0x142f, 0x142c].map((code) => [code >> 8, code & 255] as const);
  const letters = [...text.padEnd(text.length + (text.length % 2))].map((letter) => letter.charCodeAt(0));
  const pairs = letters.flatMap((letter, at) => (at % 2 === 0 ? [[letter, letters[at + 1] ?? 0] as const] : []));
  // Commands come twice (CEA-608).
  const twice = (code: readonly [number, number] | undefined) => (code ? [code, code] : []);
  const timeline = [...twice(load), ...twice(row), ...pairs];
  const at = (frame: number): (readonly [number, number])[] =>
    Array.from({ length: frame - timeline.length }, () => [0, 0]);
  timeline.push(...at(30), ...twice(show));
  timeline.push(...at(90), ...twice(erase));
  return timeline;
}

const withOddParity = (byte: number): number =>
  byte | ([...byte.toString(2)].filter((bit) => bit === "1").length % 2 === 0 ? 0x80 : 0);

/**
 * A unit of supplemental information with two bytes of the first field (ITU-T H.264 §7.3.2.3.1, A/53 part 4 §6.2.3).
 */
function captionUnit(pair: readonly [number, number]): Buffer {
  const head = Buffer.from("0000000106040eb500314741393403c1fffc", "hex");
  return Buffer.concat([head, Buffer.from([...pair.map(withOddParity), 0xff, 0x80])]);
}

/** Four seconds of 64x36 at 30 frames per second, with a keyframe each second. The text is shown from 1 to 3 s. */
export async function captionedClip({ make, edit }: SourceWorkshop, text: string): Promise<string> {
  const x264 = "-c:v libx264 -preset ultrafast -bf 0 -g 30 -sc_threshold 0 -x264-params aud=1 -pix_fmt yuv420p";
  await make("plain.h264", `-f lavfi -i testsrc2=s=64x36:r=30:d=4 ${x264}`);
  const pairs = captionPairs(text);
  await edit("plain.h264", "captioned.h264", (bytes) => {
    const delimiter = Buffer.from("0000000109", "hex");
    const frames: Buffer[] = [];
    for (let from = bytes.indexOf(delimiter); from >= 0; ) {
      const next = bytes.indexOf(delimiter, from + 1);
      const end = from + delimiter.length + 1;
      const unit = captionUnit(pairs[frames.length] ?? [0, 0]);
      frames.push(Buffer.concat([bytes.subarray(from, end), unit, bytes.subarray(end, next < 0 ? undefined : next)]));
      from = next;
    }
    return Buffer.concat(frames);
  });
  return make("captioned.mp4", "-r 30 -i captioned.h264 -f lavfi -i sine=r=48000:d=4 -c:v copy -c:a aac");
}

/** The captions in the frames of a file, as SubRip. */
export async function captionsOf(file: string): Promise<string> {
  const argv = [
    "-v",
    "error",
    "-f",
    "lavfi",
    "-i",
    `movie=${basename(file)}[out0+subcc]`,
    "-map",
    "0:s",
    "-f",
    "srt",
    "-",
  ];
  const { stdout } = await run(REFERENCE_FFMPEG, argv, { env: toolEnvironment(), cwd: dirname(file) });
  return stdout.replace(/<[^>]+>|\{[^}]+\}/g, "");
}
