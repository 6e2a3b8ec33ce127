import { CompletionContext } from "@codemirror/autocomplete";
import { json, jsonLanguage } from "@codemirror/lang-json";
import { EditorState } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import { complete } from "./completion.ts";
import { errorIn, placeOf } from "./places.ts";

/** `|` in the JSON is the cursor. */
function optionsAt(marked: string, explicit = false) {
  const pos = marked.indexOf("|");
  const state = EditorState.create({ doc: marked.replace("|", ""), extensions: json() });
  return complete(new CompletionContext(state, pos, explicit));
}

describe("completion", () => {
  it.each([
    ["names of sections", '{"|"', ["input", "outputs", "storage", "settings"]],
    ["names after another member", '{"input": {}, "o|"}', ["outputs"]],
    ["formats", '{"outputs": {"|"}}', ["mp4:720p", "httpstream", "webm"]],
    ["parameters of a video", '{"outputs": {"mp4:720p": {"|"}}}', ["path", "watermark", "loudness"]],
    ["parameters of an audio output", '{"outputs": {"mp3": {"|"}}}', ["path", "offset"]],
    ["parameters of an image", '{"outputs": {"jpg": [{"path": "a"}, {"|"}]}}', ["number", "sprite"]],
    ["members of a watermark", '{"outputs": {"mp4": {"watermark": {"|"}}}}', ["url", "position"]],
    ["members of HLS", '{"outputs": {"httpstream": {"hls": {"|"}}}}', ["path", "version"]],
    ["services", '{"storage": {"service": "|"}}', ["s3", "r2", "folder"]],
    ["services for sources", '{"input": {"service": "|"}}', ["s3", "backblaze"]],
    ["members of a bucket", '{"storage": {"service": "s3", "|"}}', ["bucket", "storage_class", "use"]],
    ["credentials", '{"storage": {"service": "s3", "credentials": {"|"}}}', ["access_key_id", "secret_access_key"]],
    ["storage classes", '{"storage": {"service": "s3", "storage_class": "|"}}', ["STANDARD_IA"]],
    ["members of a source with a URL", '{"input": {"|"}}', ["url", "headers", "upload", "service"]],
    ["members of a webhook", '{"notification": {"type": "http", "|"}}', ["url", "events", "metadata"]],
    ["types of notifications", '{"notification": {"type": "|"}}', ["http", "sns", "none"]],
    ["settings", '{"settings": {"|"}}', ["ultrafast", "quality_report", "priority"]],
    ["flags", '{"settings": {"ultrafast": |}}', ["true", "false"]],
    ["numbers", '{"outputs": {"mp4": {"transpose": |}}}', ["0", "3"]],
    ["renditions", '{"outputs": {"httpstream": {"variants": ["|"]}}}', ["mp4:x:64k"]],
  ])("offers %s", (_, marked, some) => {
    const labels = optionsAt(marked)?.options.map(({ label }) => label);
    expect(labels).toEqual(expect.arrayContaining(some));
  });

  it.each([
    ["a text", '{"storage": {"bucket": "|"}}'],
    ["an unknown section", '{"constructor": {"|"}}'],
    ["an unknown member", '{"settings": {"__proto__": {"|"}}}'],
    ["an unknown service", '{"storage": {"service": "toString", "x": "|"}}'],
  ])("offers nothing for %s", (_, marked) => expect(optionsAt(marked)?.options ?? []).toEqual([]));

  it("searches with the text of a name, and offers names in an empty object on request", () => {
    expect(optionsAt('{"in|pu": {}}')).toMatchObject({ from: 2 });
    expect(optionsAt("{ | }")).toBeNull();
    expect(optionsAt("{ | }", true)?.options.length).toBeGreaterThan(5);
  });
});

const REQUEST = `{
  "input": { "url": "x" },
  "storage": { "service": "s3" },
  "outputs": {
    "mp4": [{ "path": "a.mp4" }, { "path": "b.mp4", "blur": 7 }],
    "mp4:29.97fps": { "path": "c.mp4", "watermark": { "url": "y" } },
    "httpstream": { "variants": ["mp4:360p", "mp4:7O0p"] }
  }
}`;

it.each([
  ["input.url", '"x"'],
  ["storage.bucket", '"storage"'],
  ["storage.credentials.secret_access_key", '"storage"'],
  ["outputs.mp4:2.blur", "7"],
  ["outputs.mp4:29.97fps", '"mp4:29.97fps"'],
  ["outputs.mp4:29.97fps.watermark.url", '"y"'],
  ["outputs.httpstream.variants.1", '"mp4:7O0p"'],
  ["outputs.httpstream.variants", '"variants"'],
  ["outputs", '"outputs"'],
  ["vars.id", undefined],
])("the field %s is at %s", (field, text) => {
  const { tree } = treeOf(REQUEST);
  const place = placeOf(REQUEST, tree, field);
  const range = place?.value ?? place?.name;
  expect(range && REQUEST.slice(range.from, range.to)).toBe(text);
});

it.each([
  ["{}", null],
  ['{"a": 1,}', 8],
  ['{"a" 1}', 5],
  ['{"a": [1, 2}', 11],
])("the first syntax error of %s is at %s", (text, at) => expect(errorIn(treeOf(text).tree)).toBe(at));

const treeOf = (doc: string) => ({ tree: jsonLanguage.parser.parse(doc) });
