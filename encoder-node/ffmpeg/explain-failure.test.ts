import { expect, it, test } from "vitest";
import type { ErrorCode } from "#shared/errors.ts";
import { explainFailure } from "./explain-failure.ts";
import type { CommandFailure } from "./run-tool.ts";

type Reason = CommandFailure["reason"];

test.each<[string, string, Reason, ErrorCode, string]>([
  [
    "unknown encoder",
    "[vost#0:0 @ 0x5598] Unknown encoder 'nosuch'\n[vost#0:0 @ 0x5598] Error selecting an encoder\nError opening output file -.\n",
    "exit",
    "encoder_not_available",
    "The encoder node's ffmpeg lacks an encoder that this output needs; choose another codec or another node.",
  ],
  [
    "a GPU encoder without GPU",
    "[h264_nvenc @ 0x55ff] Cannot load libcuda.so.1\n[out#0/null @ 0x55ff] Nothing was written into output file",
    "exit",
    "encoder_not_available",
    "The encoder node's ffmpeg lacks an encoder that this output needs; choose another codec or another node.",
  ],
  [
    "full disk",
    "[out#0/mp4 @ 0x558a] Could not write header: No space left on device\n[vf#0:0 @ 0x558a] Task finished with error code: -28",
    "exit",
    "node_failed",
    "The encoder node has no disk space left; free space on the node, then retry the job.",
  ],
  [
    "no program",
    "Cannot start ffmpeg: ENOENT",
    "exit",
    "node_failed",
    "The encoder node could not start ffmpeg; check the ffmpeg installation on the node.",
  ],
  [
    "truncated mp4",
    "[mov,mp4,m4a,3gp,3g2,mj2 @ 0x563e] moov atom not found\n[in#0 @ 0x563e] Error opening input: Invalid data found\n",
    "exit",
    "input_not_media",
    "The input is damaged or not a media file; check that the source is a media file.",
  ],
  [
    "not a media file, in ffmpeg 5's message",
    "file:/srv/my jobs/1/input.bin: Invalid data found when processing input\n",
    "exit",
    "input_not_media",
    "The input is damaged or not a media file; check that the source is a media file.",
  ],
  [
    "a broken frame is not a broken input",
    "Error while decoding stream #0:0: Invalid data found when processing input\n[libx264 @ 0x1] broken ffmpeg default settings detected\n",
    "exit",
    "encoding_failed",
    "The encode failed: broken ffmpeg default settings detected.",
  ],
  [
    "quotes the line that explains the failure, not those that follow from it",
    "[Parsed_scale_0 @ 0x55f9] Invalid size 'bogus'\n[AVFilterGraph @ 0x55f9] Error initializing filters\nError opening output file -.\nError opening output files: Invalid argument\n",
    "exit",
    "encoding_failed",
    "The encode failed: Invalid size 'bogus'.",
  ],
  [
    "folder names are removed",
    "[out#0/mp4 @ 0x1] Error opening output /home/ann lee/work/j1/720p.mp4: Permission denied\nError opening output files: Permission denied\n",
    "exit",
    "encoding_failed",
    "The encode failed: Error opening output 720p.mp4: Permission denied.",
  ],
  [
    "folder names in quotes are removed, fractions are not",
    "Unable to use '/var/lib/copra/wm.png' at 30000/1001 fps.",
    "exit",
    "encoding_failed",
    "The encode failed: Unable to use 'wm.png' at 30000/1001 fps.",
  ],
  [
    "only uninformative lines",
    "\nConversion failed!\n",
    "exit",
    "encoding_failed",
    "The encode failed: Conversion failed!.",
  ],
  ["empty stderr", "", "exit", "encoding_failed", "The encode failed: exit code 1."],
  [
    "killed from outside",
    "[h264 @ 0x1] concealing 12 errors",
    "signal",
    "node_failed",
    "ffmpeg was killed on the encoder node, most likely because memory ran out; retry the job.",
  ],
  [
    "a packet of impossible size",
    "[in#0/avi @ 0x1] Error during demuxing: Cannot allocate memory\nCannot determine format of input 0:0 after EOF\n",
    "exit",
    "encoding_failed",
    "The input is damaged: it declares a packet larger than any in a media file; export the input again.",
  ],
  [
    "more memory than there is",
    "[libx265 @ 0x1] malloc of size 4096 failed\nError while opening encoder: Cannot allocate memory\n",
    "exit",
    "node_failed",
    "The encode needs more memory than one run may use; choose a smaller size, or use a node with more memory.",
  ],
  [
    "a copy without timestamps",
    "[matroska @ 0x5] Can't write packet with unknown timestamp\n[out#0/matroska @ 0x5] Error muxing a packet\n",
    "exit",
    "copy_not_possible",
    "The input's packets lack timestamps, which a copy into this container needs; encode the input instead.",
  ],
  [
    "a packet that a container does not take",
    "[mp4 @ 0x5] Malformed bitstream\n[out#0/mp4 @ 0x5] Error muxing a packet\n",
    "exit",
    "encoding_failed",
    "The container does not take the packets of this output; choose another container, or encode instead of copying.",
  ],
  [
    "samples that are no numbers",
    "[aac @ 0x5] Input contains (near) NaN/+-Inf\n[aost#0:1/aac @ 0x5] Error encoding a frame: Invalid argument\n",
    "exit",
    "encoding_failed",
    "The input's audio is damaged: its samples are not valid; export the input again.",
  ],
  [
    "audio without channels",
    "[af#0:1 @ 0x5] Neither number of channels nor channel layout specified.\nError configuring filters\n",
    "exit",
    "encoding_failed",
    "The input's audio states no channels; the audio may be missing or damaged, so export the input again.",
  ],
  [
    "properties of frames that filters reject",
    "[graph 0 input from stream 0:0 @ 0x5] Invalid color range\n[vf#0:0 @ 0x5] Error reinitializing filters!\n",
    "exit",
    "encoding_failed",
    "The input's video or audio has properties that ffmpeg's filters do not support, or changes to them midway; convert the input to a common format first.",
  ],
  ["stalled", "", "stalled", "encoding_failed", "The encode made no progress and was stopped; retry the job."],
  [
    "stalled for lack of space",
    "No space left on device",
    "stalled",
    "node_failed",
    "The encoder node has no disk space left; free space on the node, then retry the job.",
  ],
  [
    "a decoder that is not allowed, in ffmpeg 7's message",
    "[magicyuv @ 0x55] Codec (magicyuv) not on whitelist 'h264'\n[vist#0:0/magicyuv @ 0x55] [dec:magicyuv @ 0x55] Error while opening decoder: Invalid argument\n",
    "exit",
    "input_codec_not_supported",
    "The input uses the codec magicyuv, which is not supported; convert it to a common codec such as H.264, ProRes, AAC or PCM, or remove the stream.",
  ],
  [
    "another failure of an input with a stream whose decoder is not allowed and not needed",
    "[ssa @ 0x55] Codec (jacosub) not on whitelist 'h264'\n    Last message repeated 1 times\n[mp4 @ 0x55] Tag xyz incompatible\n[ssa @ 0x55] Codec (jacosub) not on whitelist 'h264'\nConversion failed!",
    "exit",
    "encoding_failed",
    "The encode failed: Tag xyz incompatible.",
  ],
  [
    "video without a frame, in ffmpeg 5's message",
    "Error while decoding stream #0:0: Invalid data found\nCannot determine format of input stream 0:0 after EOF\nError marking filters as finished\n",
    "exit",
    "encoding_failed",
    "The video or audio of the input cannot be decoded; the file may be damaged, so export it again.",
  ],
  [
    "video without a frame, in ffmpeg 7's message",
    "Cannot determine format of input 0:0 after EOF\n[vf#0:0 @ 0x5] Task finished with error code: -1094995529 (Invalid data found)\n[vost#0:0/libx264 @ 0x5] Could not open encoder before EOF\n",
    "exit",
    "encoding_failed",
    "The input's video cannot be decoded; the file may be damaged, so export it again.",
  ],
  [
    "audio of which nothing can be decoded",
    "[aist#0:1/aac @ 0x5] [dec:aac @ 0x5] Decode error rate 1 exceeds maximum 0.666667\n[aist#0:1/aac @ 0x5] [dec:aac @ 0x5] Task finished with error code: -1145393733\n",
    "exit",
    "encoding_failed",
    "The input's audio cannot be decoded; the file may be damaged, so export it again.",
  ],
  ...[
    "Decoder (codec none) not found for input stream #0:0",
    "[vist#0:0/vvc @ 0x5] [dec:vvc @ 0x5] Error while opening decoder: Experimental feature",
  ].map((line): [string, string, CommandFailure["reason"], ErrorCode, string] => [
    `no decoder: ${line}`,
    `${line}\nError binding filtergraph inputs/outputs: Experimental feature\n`,
    "exit",
    "input_codec_not_supported",
    "The input has a stream that the node's ffmpeg cannot decode; convert it to a common codec first.",
  ]),
  ...[
    "file:/srv/tasks/w-1/chunk-2.mp4: Invalid data found when processing input",
    "[in#1 @ 0x5] Error opening input: Invalid data found when processing input\nError opening input file texts.vtt.\nError opening input files: Invalid data found when processing input",
  ].map((lines): [string, string, CommandFailure["reason"], ErrorCode, string] => [
    `a file of the node's own: ${lines}`,
    `[mov,mp4 @ 0x5] moov atom not found\n${lines}\n`,
    "exit",
    "encoding_failed",
    "The encode failed: ffmpeg could not read a file that the encoder node made for it.",
  ]),
  ["cancelled", "moov atom not found", "aborted", "cancelled", "The task was cancelled."],
])("%s", (_, stderrTail, reason, code, message) => {
  expect(explainFailure(stderrTail, { reason, exitCode: reason === "exit" ? 1 : null }, "/srv/tasks")).toEqual({
    code,
    message,
  });
});

test.each<[Partial<CommandFailure>, ErrorCode, RegExp]>([
  [{ reason: "exit", exitCode: 69 }, "encoding_failed", /^Most of the video or audio of the input cannot be decoded/],
  [{ reason: "frames" }, "encoding_failed", /far more frames than its header declares/],
  [{ reason: "time" }, "encoding_failed", /far longer than the input's duration allows/],
  [{ reason: "file" }, "encoding_failed", /file far larger than its duration allows/],
  [{ reason: "disk" }, "node_failed", /no disk space left/],
  [{ reason: "signal", signal: "SIGSEGV" }, "encoding_failed", /crashed on this input \(SIGSEGV\)/],
  [{ reason: "signal", signal: "SIGKILL" }, "node_failed", /most likely because memory ran out/],
])("%j", (end, code, message) => {
  const failure = explainFailure("moved out of order", { reason: "exit", exitCode: null, ...end }, "/srv/tasks");
  expect(failure).toEqual({ code, message: expect.stringMatching(message) });
});

it("keeps quotes short", () => {
  const { message } = explainFailure("x".repeat(8000), { reason: "exit", exitCode: 1 }, "/srv/tasks");
  expect(message.length).toBeLessThan(400);
});
