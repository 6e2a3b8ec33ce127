import { expect, it } from "vitest";
import { parseJobRequest } from "../../../shared/request/job-request.ts";
import { formatsOf, LADDER_NAMES, LADDERS, ladderOf, moved, newFormat, variantsOf } from "./ladder.ts";

it.each(LADDER_NAMES)("offers the ladder %s, which the service accepts and the form recognizes", (name) => {
  const variants = variantsOf(LADDERS[name].formats);
  const request = {
    input: { url: "https://example.com/a.mov" },
    storage: { service: "coconut" },
    outputs: { httpstream: { hls: { path: "hls" }, variants } },
    notification: { type: "none" },
  };
  expect(parseJobRequest(request, "none")).toMatchObject({ ok: true });
  expect(ladderOf(formatsOf(variants))).toBe(name);
});

it("leaves the ladder of the service out of the request, and states every other ladder", () => {
  expect(variantsOf(formatsOf(undefined))).toBeUndefined();
  const changed = formatsOf(undefined).slice(1);
  expect(variantsOf(changed)).toEqual(changed);
  expect(ladderOf(changed)).toBeUndefined();
});

it.each([
  [0, 1, ["b", "a", "c"]],
  [2, 1, ["a", "c", "b"]],
  [3, 2, ["a", "b", "c"]],
])("moves the rendition at %i to %i", (from, to, list) => expect(moved(["a", "b", "c"], from, to)).toEqual(list));

it("adds renditions with sizes that the ladder lacks", () => {
  const four = [1, 2, 3, 4].reduce<string[]>((formats) => [...formats, newFormat(formats)], ["mp4:720p_2000k"]);
  expect(four).toEqual([
    "mp4:720p_2000k",
    "mp4:1080p::quality=4",
    "mp4:480p::quality=4",
    "mp4:360p::quality=4",
    "mp4:240p::quality=4",
  ]);
});
