import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HttpStreamParams } from "../../shared/request/outputs/httpstream-params.ts";
import { ImageParams } from "../../shared/request/outputs/image-params.ts";
import { TextParams } from "../../shared/request/outputs/text-params.ts";
import { VideoParams } from "../../shared/request/outputs/video-params.ts";

const DOCS = readFileSync(new URL("../../docs/api-v2.md", import.meta.url), "utf8");
const [, ALL = "", VIDEO = "", IMAGES = "", TEXT = "", STREAM = ""] =
  /All types:([\s\S]*?)\*\*Video and audio\*\*([\s\S]*?)\*\*Images\*\*([\s\S]*?)\*\*vtt, srt\*\*([\s\S]*?)\*\*httpstream\*\*([\s\S]*?)\n## 6/.exec(
    DOCS,
  ) ?? [];

test.each([
  ["video and audio", VideoParams, VIDEO],
  ["images", ImageParams, IMAGES],
  ["text", TextParams, TEXT],
  ["streams", HttpStreamParams, STREAM],
])("docs/api-v2.md §5 has each parameter of %s", (_, { shape }, text) => {
  const names = Object.keys(shape);
  expect(names.filter((name) => !new RegExp(`[\`{, ]${name}[\`: ,}]`).test(`${ALL}${text}`))).toEqual([]);
});
