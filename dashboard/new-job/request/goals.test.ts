import fc from "fast-check";
import { expect, it } from "vitest";
import { parseJobRequest } from "../../../shared/request/job-request.ts";
import { GOAL_NAMES, GOALS, goalsIn, matters, QUALITIES, SIZES, withGoals } from "./goals.ts";
import { type Output, outputList, outputsSection } from "./output-list.ts";

const kinds = fc.record(Object.fromEntries(GOAL_NAMES.map((goal) => [goal, fc.constantFrom(...GOALS[goal].kinds)])), {
  requiredKeys: [],
});
const wanted = fc.record({
  choice: fc.record({ size: fc.constantFrom(...Object.keys(SIZES)), quality: fc.constantFrom(...QUALITIES) }),
  kinds: kinds.filter((chosen) => Object.keys(chosen).length > 0),
});
/** The list after it was stored in a request. */
const stored = (list: readonly Output[]) => outputList(JSON.parse(JSON.stringify(outputsSection(list))));
const USUAL = { size: "", quality: 4 };

it("makes outputs that the service accepts, and recognizes their goals, size and quality", () => {
  fc.assert(
    fc.property(wanted, (goals) => {
      const list = stored(withGoals([], goals));
      const request = { input: { url: "https://example.com/a.mov" }, storage: { service: "coconut" } };
      const notification = { type: "none" };
      expect(parseJobRequest({ ...request, outputs: outputsSection(list), notification }, "none")).toMatchObject({
        ok: true,
      });
      const { choice, kinds, others } = goalsIn(list);
      expect({ kinds, others }).toEqual({ kinds: goals.kinds, others: [] });
      expect(choice).toEqual({
        size: matters(goals, { size: "480p" }) ? goals.choice.size : USUAL.size,
        quality: matters(goals, { quality: 2 }) ? goals.choice.quality : USUAL.quality,
      });
    }),
    { numRuns: 50 },
  );
});

it("keeps paths, further parameters and other outputs when goals, size or quality change", () => {
  const other = { format: "webm", params: { path: "video.webm" } };
  const list = [{ format: "mp4", params: { path: "a/b.mp4", deinterlace: true } }, other];
  const { choice, kinds, others } = goalsIn(list);
  expect({ choice, kinds, others }).toEqual({ choice: USUAL, kinds: { video: "mp4" }, others: [other] });
  const resized = withGoals(list, { choice: { size: "720p", quality: 5 }, kinds: { ...kinds, audio: "m4a" } });
  expect(resized).toEqual([
    other,
    { format: "mp4:720p::quality=5", params: { path: "a/b.mp4", deinterlace: true } },
    { format: "m4a:192k", params: { path: "audio.m4a" } },
  ]);
  expect(withGoals(resized, { choice, kinds: {} })).toEqual([other]);
});

it("gives a goal's output another path than other outputs", () => {
  const list = [{ format: "webm", params: { path: "video.mp4" } }];
  expect(withGoals(list, { choice: USUAL, kinds: { video: "mp4" } })[1]?.params).toEqual({ path: "video-2.mp4" });
});

it("fits the renditions of a stream to the source, up to the chosen size", () => {
  const stream = (size: string, quality: number) =>
    stored(withGoals([], { choice: { size, quality }, kinds: { stream: "hls and dash" } }))[0]?.params;
  expect(stream("", 4)).not.toHaveProperty("variants");
  expect(stream("480p", 5)).toMatchObject({
    drop_larger_variants: true,
    variants: [
      "mp4:x:64k",
      "mp4:240p::quality=5,maxrate=600k,vprofile=high",
      "mp4:360p::quality=5,maxrate=1500k,vprofile=high",
      "mp4:480p::quality=5,maxrate=2250k,vprofile=high",
    ],
  });
});
