// URLs of watermarks, subtitles and audio tracks may hold passwords and signatures. Only the node that fetches them
// learns these.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { burnOf, type OutputSpec } from "#shared/job/output-spec.ts";
import type { Task } from "#shared/protocol/tasks.ts";
import { jobOf } from "../../rpc/job.ts";
import { basic, jobBody, newAccount, send } from "../../testing/jobs.ts";
import { claimFrom, inspectSource } from "../../testing/turns.ts";

const SECRET = "sesame-open-7";
const LOGO = `https://me:${SECRET}@media.example.com/logo.png?sig=${SECRET}#part`;
const PLAIN = "https://media.example.com/plain.png";
const CUES = `https://media.example.com/en.srt?sig=${SECRET}`;
const SPEECH = `https://media.example.com/fr.wav?sig=${SECRET}`;
const CAPTIONS = `https://media.example.com/burnt.ass?sig=${SECRET}`;
const FONT = `https://me:${SECRET}@media.example.com/font.ttf`;
const OVERLAYS = [1, 2, 3].map((at) => `https://media.example.com/overlay-${at}.png?sig=${SECRET}`);
const overlays = OVERLAYS.map((url) => ({ url }));
const OUTPUTS = {
  "mp4:240p": { path: "a.mp4", watermark: { url: LOGO }, overlays: [{ text: "a" }, overlays[0]] },
  "mp4:360p": { path: "b.mp4", watermark: { url: PLAIN }, audio: [{ from: 1 }, { url: SPEECH }] },
  "jpg:320x": { path: "c.jpg", burn: { url: CAPTIONS, font: { url: FONT } }, overlays: overlays[1] },
  vtt: { path: "d.vtt", url: `${CUES}1` },
  mkv: { path: "e.mkv", subtitles: [{ from: 1 }, { url: `${CUES}2`, language: "en" }] },
  httpstream: {
    hls: { path: "hls" },
    variants: ["mp4:240p"],
    subtitles: [{ url: CUES, language: "en" }],
    overlays: overlays[2],
  },
};

const audioUrls = (spec: OutputSpec): string[] =>
  spec.type === "video" && typeof spec.audioTracks === "object" ? spec.audioTracks.flatMap(({ url }) => url ?? []) : [];
function burnt(spec: OutputSpec): string[] {
  const burn = burnOf(spec);
  const font = burn?.style.font;
  return [burn?.url ?? [], font && "url" in font ? font.url : []].flat();
}

const overlaid = (spec: OutputSpec): string[] =>
  spec.type === "text" ? [] : (spec.overlays ?? []).flatMap((overlay) => ("url" in overlay ? overlay.url : []));

const textUrls = (spec: OutputSpec): string[] =>
  "subtitles" in spec && typeof spec.subtitles === "object" ? spec.subtitles.flatMap(({ url }) => url ?? []) : [];

it("stores secret URLs sealed, and sends them to the node that encodes", async () => {
  const headers = basic((await newAccount()).key);
  const { status, body } = await send("/v2/jobs", { method: "POST", body: jobBody({ outputs: OUTPUTS }), headers });
  expect([status, JSON.stringify(body)]).toEqual([201, expect.not.stringContaining(SECRET)]);
  const job = jobOf(env, body.id);
  await inspectSource(job);
  const tasks: Task[] = (await claimFrom(job, { nodeId: "node", session: "session", slotClass: "encode", max: 9 })).map(
    ({ task }) => task,
  );
  const addresses = tasks.flatMap((task) =>
    "outputs" in task
      ? task.outputs.flatMap((spec) =>
          spec.type === "httpstream"
            ? [...textUrls(spec), ...overlaid(spec)]
            : spec.type === "text"
              ? (spec.text.url ?? [])
              : [spec.watermark?.url ?? [], audioUrls(spec), textUrls(spec), burnt(spec), overlaid(spec)].flat(),
        )
      : [],
  );
  expect(addresses.sort()).toEqual(
    [CUES, `${CUES}1`, `${CUES}2`, LOGO, PLAIN, SPEECH, CAPTIONS, FONT, ...OVERLAYS].sort(),
  );
  const stored = await runInDurableObject(job, (_, { storage }) => JSON.stringify([...storage.kv.list()]));
  expect(stored).toContain("media.example.com/logo.png");
  expect(stored).not.toContain(SECRET);
});
