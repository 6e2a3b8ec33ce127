import { expect, it } from "vitest";
import { channelsOf, layoutFor, layoutOf, type SpeakerLayout, sourceLayout } from "./channel-layouts.ts";

it.each<[number, SpeakerLayout | null]>([
  [0, null],
  [1, "mono"],
  [2, "stereo"],
  [3, "3.0"],
  [4, "4.0"],
  [5, "5.0"],
  [6, "5.1"],
  [7, "6.1"],
  [8, "7.1"],
  [9, null],
])("takes %i channels of a file that names no layout for %s", (channels, layout) => {
  expect([sourceLayout(undefined, channels), layoutOf(channels)]).toEqual([layout, layout]);
  if (layout !== null) expect(channelsOf(layout)).toBe(channels);
});

it.each<[source: SpeakerLayout, offered: SpeakerLayout[], SpeakerLayout]>([
  ["stereo", ["mono", "stereo"], "stereo"],
  ["quad", ["stereo", "5.0", "5.1"], "5.0"],
  ["4.0", ["stereo", "5.1", "6.1", "7.1"], "6.1"],
  ["5.1(side)", ["stereo", "5.1", "7.1"], "5.1"],
  ["6.1", ["5.1", "7.1"], "7.1"],
  ["7.0", ["stereo", "5.1", "6.1", "7.1"], "7.1"],
  ["7.1", ["mono", "stereo"], "stereo"],
  ["5.1", [], "stereo"],
])(
  "mixes %s, of the layouts %j, to the smallest that has all its loudspeakers, else to the largest",
  (source, offered, expected) => {
    expect(layoutFor(source, offered)).toBe(expected);
  },
);
