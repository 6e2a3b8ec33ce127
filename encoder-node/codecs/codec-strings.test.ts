import { describe, expect, test } from "vitest";
import { audioOfAdts, audioOfConfig } from "./aac.ts";
import { avcCodec, hevcCodec } from "./codec-strings.ts";

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
