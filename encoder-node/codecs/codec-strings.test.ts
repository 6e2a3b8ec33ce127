import { describe, expect, test } from "vitest";
import { describeEntry } from "../mp4/movie.ts";
import { audioOfAdts, audioOfConfig } from "./aac.ts";
import { avcCodec, hevcCodec } from "./codec-strings.ts";
import { audioOfAc3, audioOfDec3, secondsOfAc3 } from "./dolby.ts";

const bytes = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");

test.each([
  ["High 4.0", "640028", "avc1.640028"],
  ["Constrained Baseline 3.1", "42c01f", "avc1.42c01f"],
  ["Main 3.0", "4d401e", "avc1.4d401e"],
  ["High 1.1", "64000b", "avc1.64000b"],
])("builds the H.264 codec string of %s", (_, profile, codec) => {
  expect(avcCodec("avc1", bytes(profile))).toBe(codec);
});

// Version; profile space, tier and profile; compatibility; constraints; level.
test.each([
  ["Main 3.1", "01 01 60000000 900000000000 5d", "hvc1.1.6.L93.90"],
  ["Main 10, 4.0", "01 02 20000000 900000000000 78", "hvc1.2.4.L120.90"],
  ["Main 10, high tier, 5.1", "01 22 20000000 b00000000000 99", "hvc1.2.4.H153.B0"],
  ["Range extensions, 4:2:2", "01 04 08000000 9d0800000000 5d", "hvc1.4.10.L93.9D.8"],
  ["profile space A, a constraint after zeros", "01 64 82000000 b00000000001 96", "hvc1.A4.41.H150.B0.0.0.0.0.1"],
  ["no constraints", "01 01 60000000 000000000000 5d", "hvc1.1.6.L93"],
])("builds the HEVC codec string of %s", (_, configuration, codec) => {
  expect(hevcCodec("hvc1", bytes(configuration))).toBe(codec);
});

/** A sample entry of `skipBytes` zeros, and boxes. */
const entry = (type: string, skipBytes: number, boxes: readonly (readonly [type: string, body: string])[]) => ({
  type,
  body: Buffer.concat([
    Buffer.alloc(skipBytes),
    ...boxes.flatMap(([name, hex]) => {
      const body = bytes(hex);
      const head = Buffer.alloc(8);
      head.writeUInt32BE(8 + body.length);
      return [Buffer.concat([head.fill(name, 4, 8, "latin1"), body])];
    }),
  ]),
});
const BT709 = "6e636c78 0001 0001 0001 00";
const PQ = "6e636c78 0009 0010 0009 00";

// Boxes of ffmpeg 7.0. shaka-packager 3.4.2 (npm) writes these strings for the same files:
// `packager in=v.mp4,stream=video,output=o.mp4 --hls_master_playlist_output o.m3u8`.
test.each([
  ["av01", "av1C", "81000c000a0b000000043cfecc02f80040", null, "av01.0.00M.08"],
  ["av01", "av1C", "81050c000a0e0000002d4cffb3c02f8101010104", BT709, "av01.0.05M.08.0.110.01.01.01.0"],
  ["av01", "av1C", "81014c000a0e0000000cc4ff6700be1424402410", PQ, "av01.0.01M.10.0.110.09.16.09.0"],
  ["av01", "av1C", "8148e000", null, "av01.2.08H.12"],
  ["vp09", "vpcC", "01000000000b820202020000", null, "vp09.00.11.08.01.02.02.02.00"],
  ["vp09", "vpcC", "01000000001f820101010000", BT709, "vp09.00.31.08.01.01.01.01.00"],
  ["vp09", "vpcC", "01000000010b840202020000", null, "vp09.01.11.08.02.02.02.02.00"],
  ["vp09", "vpcC", "010000000215a20910090000", PQ, "vp09.02.21.10.01.09.16.09.00"],
])("builds the codec string of %s as other packagers do: %s %s, colors %s", (type, box, configuration, colr, codec) => {
  const boxes = [[box, configuration] as const, ...(colr ? [["colr", colr] as const] : [])];
  expect(describeEntry(entry(type, 78, boxes)).codec).toBe(codec);
});

// As above, except for FLAC: RFC 9639 has no string, and Apple's players know `fLaC`, the name of the entry.
test.each([
  ["Opus", "dOps", "000201380000bb80000000", "opus", 2, 48_000],
  ["Opus", "dOps", "000601380000bb800000010402000401020305", "opus", 6, 48_000],
  ["fLaC", "dfLa", "00000000 80000022 1200120000000000925c 0bb803f0", "fLaC", 2, 48_000],
  ["fLaC", "dfLa", "00000000 80000022 12001200000000004817 0ac441f0", "fLaC", 1, 44_100],
  ["fLaC", "dfLa", "00000000 80000022 1200120000000001b030 0bb80bf0", "fLaC", 6, 48_000],
  ["ac-3", "dac3", "101140", "ac-3", 2, 48_000],
  ["ac-3", "dac3", "5008c0", "ac-3", 1, 44_100],
  ["ac-3", "dac3", "103de0", "ac-3", 6, 48_000],
  ["ec-3", "dec3", "0600a0040000", "ec-3", 2, 32_000],
  ["ec-3", "dec3", "0e00200f0000", "ec-3", 6, 48_000],
])("reads channels and rate of %s: %s %s", (type, box, configuration, codec, channels, sampleRateHz) => {
  const description = { codec, video: null, audio: { channels, sampleRateHz } };
  expect(describeEntry(entry(type, 28, [[box, configuration]]))).toEqual(description);
});

test("adds the channels of dependent substreams of E-AC-3: 7.1 is 5.1 with a pair", () => {
  expect(audioOfDec3(bytes("0e00 200f 0202 00")).channels).toBe(8);
});

test("counts whole frames of AC-3, and rejects other bytes", () => {
  const frame = Buffer.concat([bytes("0b77 0000 08 40 43 a0"), Buffer.alloc(248)]);
  expect(audioOfAc3(frame)).toEqual({ codec: "ac-3", channels: 2, sampleRateHz: 48_000, frameBytes: 256 });
  expect(secondsOfAc3(Buffer.concat([frame, frame, frame]))).toBeCloseTo(0.096, 9);
  expect(() => secondsOfAc3(Buffer.concat([frame, Buffer.alloc(256)]))).toThrow("no sync word");
  for (const reserved of ["0b77 0000 c8 40 43 a0", "0b77 0000 3e 40 43 a0"]) {
    expect(() => audioOfAc3(bytes(reserved))).toThrow("reserved");
  }
});

test.each([
  ["av01", 78, "av1C", "8105"],
  ["vp09", 78, "vpcC", "010000000215a20910"],
  ["Opus", 28, "dOps", "00"],
  ["fLaC", 28, "dfLa", "00000000 80000022 1200120000000000925c 0bb8"],
  ["ac-3", 28, "dac3", "10"],
  ["ec-3", 28, "dec3", "0e00 20"],
])("rejects a truncated configuration of %s", (type, skipBytes, box, configuration) => {
  expect(() => describeEntry(entry(type, skipBytes, [[box, configuration]]))).toThrow(RangeError);
});

test.each(["mp4v", "dvh1"])("rejects entries of other codecs: %s", (type) => {
  expect(() => describeEntry(entry(type, 78, []))).toThrow("Unsupported MP4 codec");
});

describe("AAC", () => {
  const lc = { codec: "mp4a.40.2" };
  test.each([
    ["1190", { ...lc, channels: 2, sampleRateHz: 48_000 }],
    ["1210", { ...lc, channels: 2, sampleRateHz: 44_100 }],
    ["11b0", { ...lc, channels: 6, sampleRateHz: 48_000 }],
    ["11b8", { ...lc, channels: 8, sampleRateHz: 48_000 }],
    ["1780 5d80 08", { ...lc, channels: 1, sampleRateHz: 47_872 }],
    ["f948 40", { codec: "mp4a.40.42", channels: 2, sampleRateHz: 44_100 }],
  ])("reads the AAC configuration %s", (config, audio) => {
    expect(audioOfConfig(bytes(config))).toEqual(audio);
  });

  test.each([
    ["fff14c80", { ...lc, channels: 2, sampleRateHz: 48_000 }],
    ["fff15080", { ...lc, channels: 2, sampleRateHz: 44_100 }],
    ["fff14d80", { ...lc, channels: 6, sampleRateHz: 48_000 }],
  ])("reads the ADTS header %s", (header, audio) => {
    expect(audioOfAdts(bytes(header))).toEqual(audio);
  });

  test.each(["1180", "1690", "11"])("rejects the invalid AAC configuration %s", (config) => {
    expect(() => audioOfConfig(bytes(config))).toThrow();
  });
});
