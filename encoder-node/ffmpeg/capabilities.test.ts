import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import { Capabilities } from "#shared/protocol.ts";
import { probeCapabilities } from "./capabilities.ts";
import { locateFfmpeg } from "./locate.ts";

it("reports what this installation's ffmpeg really does", async () => {
  const tools = await locateFfmpeg(process.env);
  expect(Capabilities.parse(await probeCapabilities(tools))).toEqual({
    ffmpegVersion: tools.ffmpeg.version,
    encoders: ["libx264", "aac"],
    cpus: availableParallelism(),
  });
});
