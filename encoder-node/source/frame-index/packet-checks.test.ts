import { describe, expect, it } from "vitest";
import { checkPackets, type TrackHead } from "./packet-checks.ts";
import { PacketList } from "./packet-list.ts";
import { splitLines } from "./run-packet-listing.ts";

const timeBase = { num: 1, den: 1000 };
const HEAD: TrackHead = { timeBase, interlaced: false, declaredEndTicks: null, startUs: 0, isDiscontinuous: false };

type Row = readonly [pts: number | "N/A", flags: string, bytes?: number];

/** Checks packets in decoding order. By default the decoder returns all of them. */
function check(rows: readonly Row[], head: Partial<TrackHead> = {}, decoded?: readonly number[], other = "") {
  const packets = new PacketList(0);
  const text = rows.map(
    ([pts, flags, bytes = 100], at) =>
      `packet|stream_index=0|pts=${pts}|dts=${at * 40 - 80}|duration=40|size=${bytes}|flags=${flags}|\n`,
  );
  const whole = `${text.join("\n")}${other}program|stream|index=0|time_base=1/1000\n|stream|index=1|time_base=1/1000\n`;
  // ffprobe's output arrives in pieces of any length.
  const onText = splitLines((line) => {
    packets.addLine(line);
    return true;
  });
  for (let at = 0; at < whole.length; at += 37) onText(whole.slice(at, at + 37));
  const frames = decoded ?? rows.flatMap(([pts, flags]) => (pts === "N/A" || flags.includes("D") ? [] : [pts]));
  const reading = checkPackets({ ...HEAD, ...head }, { packets: 1000, frames }, packets);
  return reading.ok ? [...reading.value.ticks] : reading.error;
}

/** Packets of a text such as `0K 40`: their times, and flags. */
const packetsOf = (text: string): Row[] =>
  text.split(" ").map((packet) => {
    const flags = ["K", "D"].map((flag) => (packet.includes(flag) ? flag : "_")).join("");
    return [Number.parseInt(packet, 10), `${flags}_`];
  });
const CLIP: readonly Row[] = packetsOf("0K 120 40 80 160K 200");
const SHOWN = [0, 40, 80, 120, 160, 200];
const ending = (...rows: readonly Row[]): Row[] => [...CLIP, ...rows];
const evenly = (count: number, stepMs: number): Row[] =>
  Array.from({ length: count }, (_, at): Row => [at * stepMs, at === 0 ? "K__" : "___"]);

describe("packets of a video", () => {
  it("lists the frames in presentation order, without hidden frames", () => {
    expect(check(CLIP)).toEqual(SHOWN);
    expect(check(packetsOf("-80KD -40D 0 40"))).toEqual([0, 40]);
    expect(check(CLIP, { startUs: 40_000 })).toEqual(SHOWN.map((time) => time - 40));
    // As ffmpeg rounds: halves away from zero.
    expect(check(CLIP, { startUs: -500 })).toEqual(SHOWN.map((time) => time + 1));
  });

  it.each<[string, Row[]]>([
    ["its frames have no presentation timestamps", ending(["N/A", "___"])],
    ["some of its frames are empty", ending([240, "___", 0])],
    ["it is damaged", ending([240, "__C"])],
    ["it does not start with a keyframe", packetsOf("0 40K")],
    ["its first frames depend on frames before its start", packetsOf("40K 0")],
    ["two of its frames have the same timestamp", ending([200, "___"])],
    ["its timestamps do not increase", ending([100, "K__"], [140, "___"])],
    ["its timestamps do not increase", [...evenly(30, 40), [20, "___"]]],
    ["it has fewer than two frames", packetsOf("-40KD 0")],
  ])("are rejected: %s", (why, rows) => {
    expect(check(rows)).toBe(why);
  });

  it("rejects packets when a decoder returns fewer, more, or other frames", () => {
    for (const decoded of [SHOWN.slice(1), [...SHOWN, 240], [...SHOWN.slice(1), 1]]) {
      expect(check(CLIP, {}, decoded)).toBe("its packets are not single frames");
    }
  });

  it("rejects packets that end long before the declared end", () => {
    expect(check(CLIP, { declaredEndTicks: 1240 })).toEqual(SHOWN);
    expect(check(CLIP, { declaredEndTicks: 1250 })).toBe("it ends before its declared end");
  });
});

describe("an interlaced video", () => {
  it("rejects a video when some packets have half the distance, because they may be single fields", () => {
    const fields = [...evenly(20, 40), [780, "___"], [820, "___"]] as const;
    expect(check(fields)).toHaveLength(22);
    expect(check(fields, { interlaced: true })).toBe("some of its packets may be single fields");
    expect(check(evenly(20, 40), { interlaced: true })).toHaveLength(20);
  });
});

describe("a format with discontinuities", () => {
  const audio = (...times: number[]): string =>
    times.map((dts) => `packet|stream_index=1|pts=${dts}|dts=${dts}|duration=20|size=9|flags=K__\n`).join("");

  it.each<[string, readonly Row[], string, string | number[]]>([
    ["no jump", CLIP, audio(0, 9000, 8900, 18_900), SHOWN],
    ["the audio jumps ahead", CLIP, audio(0, 10_001), "its timestamps jump"],
    ["the audio jumps back", CLIP, audio(0, 500, 399), "its timestamps jump"],
    ["the video starts late", packetsOf("10001K 10041"), "", "its video starts long after its other tracks"],
  ])("%s", (_, rows, other, answer) => {
    expect(check(rows, { isDiscontinuous: true }, undefined, other)).toEqual(answer);
    expect(check(rows, {}, undefined, other)).toBeInstanceOf(Array);
  });
});

it("stops a listing whose line is longer than ffprobe's lines", () => {
  const onText = splitLines(() => true);
  const piece = "x".repeat(1000);
  const taken = Array.from({ length: 1000 }, () => piece).findIndex((text) => !onText(text));
  expect(taken).toBe(65);
});
