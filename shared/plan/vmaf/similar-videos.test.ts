import { describe, expect, it } from "vitest";
import { type DroppedVideo, droppedNote } from "../../job/dropped-video.ts";
import { specOf } from "../../testing/output-specs.ts";
import { audioStream, probed, videoStream } from "../../testing/probes.ts";
import { ALL_SOFTWARE } from "../encoders/software-encoders.ts";
import { planStream } from "../outputs/plan-stream.ts";
import { chooseTracks } from "../source/source-tracks.ts";
import { type Rung, similarRungs, similarVideos } from "./similar-videos.ts";

/** `720p` has 1280×720 pixels. The suffix after a hyphen makes the name unique. */
function rung(track: string, kbps: number | null, kind = "h264"): Rung {
  const height = Number.parseInt(track, 10);
  return { track, width: (height * 16) / 9, height, kbps, kind };
}

describe("similarRungs", () => {
  it.each<[name: string, rungs: Rung[], dropped: [track: string, above: string][]]>([
    ["usual steps", [rung("1080p", 4000), rung("720p", 2400), rung("540p", 1500), rung("360p", 800)], []],
    ["one near the largest", [rung("1080p", 1000), rung("720p", 850), rung("360p", 300)], [["720p", "1080p"]]],
    ["one of exactly four fifths", [rung("1080p", 1000), rung("720p", 800), rung("360p", 300)], []],
    ["one larger than the next one", [rung("1080p", 900), rung("720p", 1000), rung("360p", 300)], [["720p", "1080p"]]],
    [
      "two of which both are near",
      [rung("1080p", 100), rung("720p", 95), rung("480p", 90), rung("240p", 85)],
      [
        ["720p", "1080p"],
        ["480p", "1080p"],
      ],
    ],
    [
      "a chain, each near the next",
      [rung("1080p", 1000), rung("900p", 850), rung("720p", 720), rung("240p", 100)],
      [["900p", "1080p"]],
    ],
    ["in any order", [rung("360p", 300), rung("720p", 850), rung("1080p", 1000)], [["720p", "1080p"]]],
    ["two that are near", [rung("1080p", 100), rung("720p", 99)], []],
    ["one", [rung("1080p", 100)], []],
    ["none", [], []],
    [
      "what was not measured",
      [rung("1080p", null), rung("720p", 800), rung("480p", null), rung("360p", 799), rung("240p", 9)],
      [],
    ],
    ["two of one size", [rung("720p", 1000), rung("720p-2", 900), rung("360p", 100)], [["720p-2", "720p"]]],
    ["nothing but zeros", [rung("1080p", 0), rung("720p", 0), rung("360p", 0)], []],
    [
      "each codec by itself",
      [
        rung("1080p", 1000),
        rung("1080p-hevc", 600, "hevc"),
        rung("720p", 620),
        rung("720p-hevc", 560, "hevc"),
        rung("360p-hevc", 90, "hevc"),
      ],
      [["720p-hevc", "1080p-hevc"]],
    ],
  ])("%s", (_name, rungs, expected) => {
    expect(similarRungs(rungs).map(({ track, above }) => [track, above.track])).toEqual(expected);
  });
});

const duration = "60.000000";
const probe = probed([videoStream(1920, 1080, "25/1", { duration }), audioStream({ duration })]);
const KBPS: Readonly<Record<string, number>> = { "1080p": 1000, "720p": 900, "720p-2": 500, "360p": 400 };

function planned(variants: readonly string[], drop_similar_variants = true) {
  const spec = specOf({ format: "httpstream", params: { hls: { path: "h" }, variants, drop_similar_variants } }, 0);
  if (spec.type !== "httpstream") throw new Error("No stream");
  const source = chooseTracks(probe);
  const dropped = similarVideos(spec, source, (track) => KBPS[track] ?? null);
  const plan = planStream({ ...spec, dropped }, source, ALL_SOFTWARE);
  if (!plan.ok) throw new Error(plan.error.message);
  const { stream, note } = plan.value.planned;
  const choices = stream?.variants.map(({ video, audio }) => [video, audio].filter((name) => name !== null).join("+"));
  return { dropped, choices, tracks: stream?.tracks.map(({ name }) => name), note, argv: plan.value.argv.join(" ") };
}

describe("a stream without similar variants", () => {
  it("leaves out similar videos and their own audio, and keeps the names of other tracks", () => {
    const q = "quality=vmaf93";
    const variants = [
      "mp4:x:64k",
      `mp4:1080p::${q}`,
      `mp4:720p:96k:${q}`,
      `mp4:1280x::${q},maxrate=500k`,
      `mp4:360p::${q}`,
    ];
    const { dropped, choices, tracks, note, argv } = planned(variants);
    const above = { track: "1080p", kbps: 1000 };
    expect(dropped).toEqual([{ track: "720p", width: 1280, height: 720, kbps: 900, above }]);
    expect(choices).toEqual(["1080p+audio-128k", "720p-2+audio-128k", "360p+audio-128k", "audio-64k"]);
    expect(tracks).toEqual(["1080p", "720p-2", "360p", "audio-128k", "audio-64k"]);
    expect(note).toBe("Without 720p (900 kbit/s, 1080p has 1000).");
    expect(argv).not.toMatch(/0-720p\.m3u8/);
    expect(argv).toMatch(/0-720p-2\.m3u8/);
    expect(planned(variants, false).tracks).toContain("audio-96k");
  });

  it("leaves out all variants with the same video", () => {
    const q = "quality=vmaf93";
    const variants = [`mp4:1080p::${q}`, `mp4:720p::${q}`, `mp4:720p:x:${q}`, `mp4:360p::${q}`];
    expect(planned(variants).choices).toEqual(["1080p+audio-128k", "360p+audio-128k"]);
  });
});

it("notes only a few of many dropped videos", () => {
  const droppedVideo = (track: string): DroppedVideo => ({
    track,
    width: 2,
    height: 2,
    kbps: 999_999_999,
    above: { track: "x".repeat(60), kbps: 1_000_000_000 },
  });
  const note = droppedNote(Array.from({ length: 18 }, () => droppedVideo("y".repeat(60))));
  expect(note).toMatch(/, 15 more\.$/);
  expect(note.length).toBeLessThan(500);
});
