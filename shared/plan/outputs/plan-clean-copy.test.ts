import { expect, it } from "vitest";
import { probeOf } from "../../testing/frame-indexes.ts";
import { planCleanCopy } from "./plan-clean-copy.ts";

const { streams, format } = probeOf("25/1");
const [video, audio] = streams;
const probe = {
  format,
  streams: [
    { ...video, index: 0, color_space: "reserved" },
    { ...audio, index: 1 },
    { ...audio, index: 2 },
  ],
};
const maps = (argv: readonly string[] = []): string[] => argv.filter((_, at) => argv[at - 1] === "-map");

it("copies the chosen audio of a source with a reserved color matrix, or all of it", () => {
  expect(maps(planCleanCopy({ source: "/in" }, probe, "clean", false)?.argv)).toEqual(["0:0", "0:1"]);
  expect(maps(planCleanCopy({ source: "/in" }, probe, "clean", true)?.argv)).toEqual(["0:0", "0:1", "0:2"]);
});
