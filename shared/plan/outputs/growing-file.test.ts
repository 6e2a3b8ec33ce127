import { expect, it } from "vitest";
import type { MediaProbe } from "../../media/media-probe.ts";
import type { OutputOptions } from "../../testing/output-specs.ts";
import { audioStream, planOf, probed, videoStream } from "../../testing/probes.ts";
import type { GrowingFile } from "./growing-file.ts";

const probeOf = (seconds: number, rate = "30/1"): MediaProbe => {
  const duration = String(seconds);
  const streams = [videoStream(1280, 720, rate, { duration }), audioStream({ duration })];
  return probed(streams, { format_name: "mov,mp4,m4a", duration });
};

function planned(output: OutputOptions, probe: MediaProbe, uploadsEarly = true) {
  const { commands } = planOf(probe, [output], { uploadsEarly });
  const argv = commands[0]?.runs.at(-1)?.argv.join(" ") ?? "";
  return { growing: commands[0]?.outputs[0]?.growing, isIndexFirst: argv.includes("+faststart"), argv };
}

const AS_IT_IS: GrowingFile = { indexAtEnd: false, reservedBytes: 0 };
const atEnd = (reservedBytes: number): GrowingFile => ({ indexAtEnd: true, reservedBytes });
const MINUTE = probeOf(60);

it.each<[OutputOptions, MediaProbe, GrowingFile | undefined]>([
  // 16 KiB, 1800 frames of 13 + 28 bytes, 3000 packets of 4 bytes.
  [{ format: "mp4:720p" }, MINUTE, atEnd(16_384 + 1800 * 41 + 3000 * 4)],
  [{ format: "mov:720p" }, MINUTE, atEnd(16_384 + 1800 * 41 + 3000 * 4)],
  [{ format: "mp4:h264_1000k_720p:x" }, MINUTE, atEnd(16_384 + 1800 * 13)],
  // As many chunks as packets of audio.
  [{ format: "mp4:720p_60fps" }, MINUTE, atEnd(16_384 + 3600 * 13 + 3000 * (28 + 4))],
  [{ format: "mkv:720p" }, MINUTE, AS_IT_IS],
  [{ format: "mpegts:720p" }, MINUTE, AS_IT_IS],
  [{ format: "webm:720p" }, MINUTE, undefined],
  [{ format: "flv:720p" }, MINUTE, undefined],
  [{ format: "mp4:copy" }, MINUTE, undefined],
  [{ format: "m4a" }, MINUTE, undefined],
  [{ format: "mp4:720p", durationMs: 9000 }, MINUTE, undefined],
  [{ format: "mp4:720p" }, probeOf(86_400), undefined],
  [{ format: "mp4:720p" }, { ...MINUTE, streams: [] }, undefined],
])("of %j are uploaded while they are written: row %#", (output, probe, growing) => {
  const result = planned(output, probe);
  expect(result.growing).toEqual(growing);
  expect(result.isIndexFirst).toBe(/^(mp4|mov|m4a)/.test(output.format) && !growing && result.argv !== "");
});

it("writes files as usual if nobody uploads them early", () => {
  expect(planned({ format: "mp4:720p" }, MINUTE, false)).toMatchObject({ growing: undefined, isIndexFirst: true });
});
