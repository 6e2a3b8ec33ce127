import { describe, expect, it } from "vitest";
import { judgePackets, type TrackHead } from "./packet-checks.ts";
import { packetReader } from "./packet-list.ts";

const HEAD: TrackHead = {
  timeBase: { num: 1, den: 1000 },
  interlaced: false,
  saysEndTicks: null,
  startUs: 0,
  jumpsAreMended: false,
};

type Row = readonly [pts: number | "N/A", flags: string, bytes?: number];

/** What is made of packets in decoding order; all of them came out of the decoder unless it is said otherwise. */
function judge(rows: readonly Row[], head: Partial<TrackHead> = {}, decoded?: readonly number[], other = "") {
  const packets = packetReader(0);
  const text = rows.map(
    ([pts, flags, bytes = 100], at) =>
      `packet|stream_index=0|pts=${pts}|dts=${at * 40 - 80}|duration=40|size=${bytes}|flags=${flags}|\n`,
  );
  const whole = `${text.join("\n")}${other}program|stream|index=0|time_base=1/1000\n|stream|index=1|time_base=1/1000\n`;
  // ffprobe's text comes in pieces, cut anywhere.
  for (let at = 0; at < whole.length; at += 37) packets.take(whole.slice(at, at + 37));
  const frames = decoded ?? rows.flatMap(([pts, flags]) => (pts === "N/A" || flags.includes("D") ? [] : [pts]));
  const reading = judgePackets({ ...HEAD, ...head }, { packets: 1000, frames }, packets);
  return reading.ok ? [...reading.ledger.ticks] : reading.why;
}

const FILM: readonly Row[] = [
  [0, "K__"],
  [120, "___"],
  [40, "___"],
  [80, "___"],
  [160, "K__"],
  [200, "___"],
];
const SHOWN = [0, 40, 80, 120, 160, 200];
const ending = (...rows: readonly Row[]): Row[] => [...FILM, ...rows];
const evenly = (count: number, stepMs: number): Row[] =>
  Array.from({ length: count }, (_, at): Row => [at * stepMs, at === 0 ? "K__" : "___"]);

describe("packets of a film", () => {
  it("are its frames in the order of their times, without those that are not shown", () => {
    expect(judge(FILM)).toEqual(SHOWN);
    expect(
      judge([
        [-80, "KD_"],
        [-40, "_D_"],
        [0, "___"],
        [40, "___"],
      ]),
    ).toEqual([0, 40]);
    expect(judge(FILM, { startUs: 40_000 })).toEqual(SHOWN.map((time) => time - 40));
    // As ffmpeg rounds: halves away from zero.
    expect(judge(FILM, { startUs: -500 })).toEqual(SHOWN.map((time) => time + 1));
  });

  it.each<[string, Row[]]>([
    ["its frames have no times of presentation", ending(["N/A", "___"])],
    ["some of its frames are empty", ending([240, "___", 0])],
    ["it is damaged", ending([240, "__C"])],
    [
      "it does not begin with a keyframe",
      [
        [0, "___"],
        [40, "K__"],
      ],
    ],
    [
      "it begins with frames that need others from before its beginning",
      [
        [40, "K__"],
        [0, "___"],
      ],
    ],
    ["two of its frames have the same time", ending([200, "___"])],
    ["its times do not rise", ending([100, "K__"], [140, "___"])],
    ["its times do not rise", [...evenly(30, 40), [20, "___"]]],
    [
      "it has fewer than two frames",
      [
        [-40, "KD_"],
        [0, "___"],
      ],
    ],
  ])("are refused: %s", (why, rows) => {
    expect(judge(rows)).toBe(why);
  });

  it("are refused when a decoder makes fewer frames of them, more, or others", () => {
    for (const decoded of [SHOWN.slice(1), [...SHOWN, 240], [...SHOWN.slice(1), 1]]) {
      expect(judge(FILM, {}, decoded)).toBe("its packets are not frames one by one");
    }
  });

  it("are refused when they end long before the end that the track announces", () => {
    expect(judge(FILM, { saysEndTicks: 1240 })).toEqual(SHOWN);
    expect(judge(FILM, { saysEndTicks: 1250 })).toBe("it ends before the end that it announces");
  });
});

describe("an interlaced film", () => {
  it("is refused when some packets come twice as fast, which may be single fields", () => {
    const fields = [...evenly(20, 40), [780, "___"], [820, "___"]] as const;
    expect(judge(fields)).toHaveLength(22);
    expect(judge(fields, { interlaced: true })).toBe("some of its packets may be single fields");
    expect(judge(evenly(20, 40), { interlaced: true })).toHaveLength(20);
  });
});

describe("a format in which ffmpeg mends jumps", () => {
  const sound = (...times: number[]): string =>
    times.map((dts) => `packet|stream_index=1|pts=${dts}|dts=${dts}|duration=20|size=9|flags=K__\n`).join("");

  it.each<[string, readonly Row[], string, string | number[]]>([
    ["no jump", FILM, sound(0, 9000, 8900, 18_900), SHOWN],
    ["the sound jumps ahead", FILM, sound(0, 10_001), "its times jump"],
    ["the sound jumps back", FILM, sound(0, 500, 399), "its times jump"],
    [
      "the picture begins late",
      [
        [10_001, "K__"],
        [10_041, "___"],
      ],
      "",
      "its picture begins long after the rest",
    ],
  ])("%s", (_, rows, other, answer) => {
    expect(judge(rows, { jumpsAreMended: true }, undefined, other)).toEqual(answer);
    expect(judge(rows, {}, undefined, other)).toBeInstanceOf(Array);
  });
});
