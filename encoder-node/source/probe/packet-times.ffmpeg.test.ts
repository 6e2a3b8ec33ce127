import { expect, it } from "vitest";
import { fileFolder } from "../../../test/fixtures.ts";
import { locateFfmpeg } from "../../ffmpeg/discover/locate.ts";
import { openWorkshop, truncated } from "../../testing/source-workshop.ts";
import { withPacketTimes } from "./packet-times.ts";
import { probeFile } from "./probe.ts";

const { ffprobe } = await locateFfmpeg(process.env);
const { signal } = new AbortController();
const folder = fileFolder();

const SECONDS = 90;
const VIDEO = `-f lavfi -i testsrc2=s=32x32:r=5:d=${SECONDS} -c:v mpeg4 -g 10`;
const tone = (seconds: number): string => `-f lavfi -i sine=r=8000:d=${seconds}`;

/** The length of tracks by codec_type, from the start of the timeline, in whole seconds. */
async function lengthsOf(path: string): Promise<Record<string, number>> {
  const { streams, format } = await withPacketTimes(ffprobe, { path }, await probeFile(ffprobe, path), signal);
  const start = Number(format.start_time ?? 0);
  return Object.fromEntries(
    streams.map(({ codec_type, packets }) => [codec_type, Math.round((packets?.end ?? 0) - start)]),
  );
}

it.each([
  ["whose tracks end together", "a.mp4", SECONDS],
  ["whose tracks end together", "a.mkv", SECONDS],
  ["whose tracks end together", "a.ts", SECONDS],
  ["whose audio ends long before", "b.mkv", 50],
  ["whose audio ends long before", "b.mp4", 50],
  ["without an index", "c.avi", SECONDS],
])("finds the end of every track of a long file %s: %s", async (_, name, audioSeconds) => {
  const path = await openWorkshop(folder).make(name, `${tone(audioSeconds)} ${VIDEO} -c:a mp2 -ar 16000`);
  expect(await lengthsOf(path)).toEqual({ audio: audioSeconds, video: SECONDS });
});

it("finds the end of audio whose length ffprobe only estimates", async () => {
  const swell = `anoisesrc=d=${SECONDS}:a=0.8:r=16000,volume=volume=if(lt(t\\,60)\\,0.0005\\,1):eval=frame`;
  const path = await openWorkshop(folder).make("swell.aac", `-f lavfi -i ${swell} -c:a aac`);
  expect(await lengthsOf(path)).toEqual({ audio: SECONDS });
});

it("marks tracks that are shorter than their header declares", async () => {
  const workshop = openWorkshop(folder);
  await workshop.make("whole.mp4", `${VIDEO} -movflags +faststart`);
  const path = await workshop.edit("whole.mp4", "truncated.mp4", truncated(0.5));
  const { streams } = await withPacketTimes(ffprobe, { path }, await probeFile(ffprobe, path), signal);
  expect(streams).toMatchObject([{ packets: { ends_early: true } }]);
});
