// Jobs of Zencoder (API v2).
import { Draft } from "../draft.ts";
import type { Converted } from "../note.ts";
import { Reader } from "../reader.ts";
import { ZENCODER_LOST } from "./fields.ts";
import { convertFile, thumbnailsOf } from "./file-output.ts";
import { convertStreams } from "./streams.ts";

export function convertZencoder(job: unknown): Converted {
  return readZencoder(new Reader(job));
}

/** The same with the reader, which then knows what was used. */
export function readZencoder(job: Reader): Converted {
  const draft = new Draft();
  const input = job.at("input").text();
  if (input !== undefined) draft.inputUrl(input, "input");
  const outputs = job.any("outputs", "output").list();
  notify(draft, job.at("notifications"));
  const isStream = (output: Reader): boolean => /^(?:segmented|playlist)$/.test(output.at("type").text() ?? "");
  for (const output of outputs) {
    const type = output.at("type").text() ?? "standard";
    if (isStream(output)) thumbnailsOf(draft, output);
    else if (type === "standard") convertFile(draft, output);
    else {
      output.use();
      draft.lost(output.path, `outputs of the type \`${type}\` are not possible`);
    }
  }
  convertStreams(draft, outputs.filter(isStream));
  // Only now there is a notification to extend.
  const ofOutputs = outputs.map((output) => output.at("notifications")).filter((one) => one.exists);
  for (const one of ofOutputs) notify(draft, one);
  if (ofOutputs.length > 0) draft.notificationOptions({ events: true });
  return draft.finish(job.lost(ZENCODER_LOST));
}

function notify(draft: Draft, notifications: Reader): void {
  for (const one of notifications.list()) {
    const url = one.isObject ? one.at("url").text() : one.text();
    if (url !== undefined) draft.notify(url, one.path);
  }
}
