import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJobRequest } from "../../../shared/request/job-request.ts";
import { completeBody } from "../../../shared/testing/arbitrary-body.ts";
import { type Json, KEPT, masked } from "../secrets.ts";
import { hashOfRequest, requestOfHash } from "../state.ts";
import { isObject, valueAt, withValue } from "./edit.ts";
import type { FormField } from "./form-field.ts";
import { GOAL_NAMES, outputsOf } from "./goals.ts";
import { OUTPUT_FIELDS } from "./output-fields.ts";
import { kindOf, type Output, outputList, outputsSection, withOutput } from "./output-list.ts";
import { missingIn, plannable } from "./plannable.ts";
import { printCli, printCurl, printJson, printTypeScript } from "./print.ts";
import { NOTIFICATIONS, SETTINGS, SOURCES, STORAGES } from "./section-fields.ts";
import { CONTAINER_NAMES, choicesOf, type Slot, withSlot } from "./slots.ts";

/** The service replaces a saved storage before it parses the request. */
const withStorage = (request: unknown): unknown =>
  isObject(request) && isObject(request.storage) && "use" in request.storage
    ? { ...request, storage: { service: "coconut" } }
    : request;
const error = (request: unknown): string => {
  const parsed = parseJobRequest(withStorage(request), "loopback");
  return parsed.ok ? "" : parsed.error.message;
};

// ── Random states that people can reach with the form ───────────────────────────────────────────────────────────────

const among = <Value>(...values: readonly Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);
/** Values that people might type. The test fails for a field that has no value here. */
const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  if: among("{{ input.width }} >= 1280", "not {{ input.is_audio_only }}"),
  offset: among(0, 1.5, 60),
  duration: among(1, 90.5),
  start: among(0, 1.5),
  end: among(90.5, 3600),
  "watermark.url": among("https://example.com/logo.png"),
  "overlays.url": among("https://example.com/logo.png"),
  "overlays.text": among("Draft"),
  "overlays.timecode": among("source"),
  "overlays.width": among(12.5),
  "overlays.opacity": among(0.5),
  "overlays.start": among(0, 1.5),
  "overlays.end": among(90.5),
  "burn.url": among("https://example.com/en.vtt"),
  number: among(1, 5, 100),
  "scene.number": among(1, 10),
  "scene.duration": among(0.5, 5),
  blur: among(1, 5),
  priority: among(-50, 7),
  "dash.path": among("dash"),
  "hls.path": among("hls"),
  segment_duration: among(2, 6.5, 10),
  playlist_name: among("index", "a b"),
  bucket: among("videos"),
  acl: among("public-read"),
  storage_class: among("STANDARD"),
  expires: among("2027-10-21T07:28:00Z"),
  "credentials.session_token": among("token"),
  region: among("eu-west-1"),
  endpoint: among("https://s3.example.com"),
  account_id: among("0123456789abcdef0123456789abcdef"),
  bucket_id: among("0123"),
  container: among("videos"),
  folder: among("media"),
  cache_control: among("max-age=60"),
  key: among("videos/a.mov"),
  topic_arn: among("arn:aws:sns:eu-west-1:123456789012:a"),
  url: among("https://example.com/upload"),
  queue: among("default", "spare"),
  require: among(["gpu"], ["gpu", "region:eu"]),
  start_at: among("2020-12-01T02:00:00Z"),
  start_within_s: among(60),
  max_run_s: among(3600),
  "credentials.account": among("videos"),
  "credentials.access_key_id": among("AKID"),
  "credentials.secret_access_key": among("hunter2"),
  "credentials.api_key": among("aHVudGVyMg=="),
  "credentials.app_key_id": among("id"),
  "credentials.app_key": among("k"),
};
/** Fields that only some states may have. The parser's own tests cover them. */
const LEFT_OUT = new Set([
  "pad_color",
  "crop.x",
  "crop.y",
  "crop.width",
  "crop.height",
  "crop_focus.x",
  "crop_focus.y",
  "loudness",
  "audio",
  "subtitles",
  "burn.from",
  "burn.position",
  "hls.version",
  "encryption.key_uri",
  "encryption.key",
  "interval",
  "offsets",
  "headers",
]);

const arbitraryOf = (field: FormField): fc.Arbitrary<unknown> => {
  if (field.type === "flag") return fc.constant(true);
  if (field.type === "choice") {
    const all = field.choices ?? [];
    return among(...all.map((word) => (all.every((other) => /^\d+$/.test(other)) ? Number(word) : word)));
  }
  const known = VALUES[field.member];
  if (known === undefined) throw new Error(`The test has no value for the field ${field.member}`);
  return known;
};

/** A section with all required fields and some optional fields. */
const sectionOf = (fields: readonly FormField[], base: Json): fc.Arbitrary<Json> =>
  fc
    .tuple(
      ...fields
        .filter((field) => !LEFT_OUT.has(field.member) && field.member !== "path")
        .map((field) =>
          field.first
            ? arbitraryOf(field).map((value) => [field.member, value] as const)
            : fc.option(arbitraryOf(field), { nil: undefined, freq: 2 }).map((value) => [field.member, value] as const),
        ),
    )
    .map((pairs) => pairs.reduce((whole, [member, value]) => withValue(whole, member.split("."), value), base));

/** Removes a watermark without a URL, second sources of an overlay, and a backdrop for frames of any size. Adds variants with a quality where similar variants are dropped. */
function repaired(params: Json): Json {
  const sized = params.fit === "blur" ? withValue(params, ["fit"], undefined) : params;
  const whole = valueAt(sized, ["watermark", "url"]) === undefined ? withValue(sized, ["watermark"], undefined) : sized;
  const drawn = isObject(whole.overlays) ? withValue(whole, ["overlays"], oneOverlay(whole.overlays)) : whole;
  const variants = ["mp4:1080p::quality=vmaf93", "mp4:720p::quality=vmaf93", "mp4:x:64k"];
  return drawn.drop_similar_variants === true ? { ...drawn, variants } : drawn;
}

/** The overlay with a single source, and the members that such an overlay has; undefined without a source. */
function oneOverlay({ url, text, timecode, width, ...placed }: Json): Json | undefined {
  if (url !== undefined) return { ...placed, url, ...(width === undefined ? {} : { width }) };
  if (text !== undefined) return { ...placed, text };
  return timecode === undefined ? undefined : { ...placed, timecode };
}

const GOAL_OUTPUTS = GOAL_NAMES.flatMap((goal) => outputsOf(goal));

const formatFor = (kind: string): fc.Arbitrary<string> =>
  fc
    .tuple(among(...CONTAINER_NAMES), fc.array(fc.tuple(fc.nat(8), fc.nat(20)), { maxLength: 4 }))
    .map(([name, steps]) => {
      const format = steps.reduce((text, [which, at]) => {
        const slots = Object.entries(choicesOf(text)) as [Slot, readonly string[]][];
        const [slot, values = []] = slots[which % slots.length] ?? [];
        return slot === undefined ? text : withSlot(text, slot, ["", ...values][at % (values.length + 1)] ?? "");
      }, name);
      const isCopied = format.includes(":copy");
      return kindOf(format) === kind && !isCopied
        ? format
        : (GOAL_OUTPUTS.find((output) => kindOf(output.format) === kind)?.format ?? "mp4");
    });

const outputs = fc
  .array(
    among(...GOAL_OUTPUTS.map(({ format }) => kindOf(format))).chain((kind) =>
      fc.record({
        format: kind === "stream" ? fc.constant("httpstream") : formatFor(kind),
        params: sectionOf(OUTPUT_FIELDS[kind], {}).map(repaired),
      }),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((list) => {
    const unique = list.reduce<Output[]>((others, { format, params: { key: _key, ...params } }) => {
      const path = { stream: "stream", image: "image-%02d.jpg" }[kindOf(format) as string] ?? "file.mp4";
      return withOutput(others, { format, params: { ...params, path } });
    }, []);
    return outputsSection(unique);
  });

const chosen = (services: typeof STORAGES, member: string): fc.Arbitrary<Json> =>
  among(...Object.entries(services)).chain(([name, { fields }]) =>
    sectionOf(
      // These services have a region or an account instead of an endpoint.
      fields.filter((field) => field.member !== "endpoint" || !["r2", "dospaces"].includes(name)),
      name === "url" ? {} : { [member]: name, ...(name === "folder" ? { path: "a.mov" } : {}) },
    ),
  );

/** Only encoded videos have a quality report. */
function withoutEmptyReport({ settings, ...request }: { readonly [member: string]: Json }): Json {
  const isMeasured = ({ format }: Output): boolean => ["video", "stream"].includes(kindOf(format));
  if (!isObject(settings) || outputList(request.outputs).some(isMeasured)) return { ...request, settings };
  const { quality_report: _report, ...others } = settings;
  return { ...request, settings: others };
}

const requests: fc.Arbitrary<Json> = fc
  .record({
    input: fc.oneof(
      fc.constant({ url: "https://user:hunter2@example.com/a.mov?token=hunter2" }),
      fc.constant({ upload: "0123456789abcdef" }),
      chosen(SOURCES, "service"),
    ),
    storage: chosen(STORAGES, "service"),
    outputs,
    notification: chosen(NOTIFICATIONS, "type"),
    settings: sectionOf(SETTINGS, {}),
    tags: among({}, { tenant: "a b", "order.id": "7" }),
  })
  .map(withoutEmptyReport);

describe("random states of the form", () => {
  it("makes only requests that the parser accepts, also as printed", () => {
    fc.assert(
      fc.property(requests, (request) => {
        expect(missingIn(request)).toEqual([]);
        expect(error(request)).toBe("");
        // Placeholders are texts, but Azure's key must be Base64.
        const json = printJson(request).replaceAll('"<api_key>"', '"a2V5"').replaceAll('"<account>"', '"account"');
        expect(error(JSON.parse(json))).toBe("");
        expect(json).not.toContain('"hunter2"');
      }),
      { numRuns: 200 },
    );
  });

  it("writes the same request in all texts and in the URL", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const json = JSON.parse(printJson(request));
        const bodyOf = (text: string): unknown => JSON.parse(/<<'JOB'\n(.*)\nJOB$/s.exec(text)?.[1] ?? "");
        expect(bodyOf(printCurl(request, "https://copra.example.com"))).toEqual(json);
        const { input: _input, ...rest } = json;
        expect(bodyOf(printCli(request, "a b.mov"))).toEqual(
          isObject(json.input) && "upload" in json.input ? rest : json,
        );
        const program = printTypeScript(request, "https://copra.example.com");
        const literal = /create\((\{.*\})\);/s.exec(program)?.[1] ?? "";
        const run = new Function("process", `return ${literal}`);
        const env = new Proxy({}, { get: (_, name) => `<${String(name).toLowerCase()}>` });
        expect(run({ env })).toEqual(json);
        const opened = requestOfHash(hashOfRequest(request)) ?? {};
        expect(error(plannable(opened))).toBe("");
      }),
      { numRuns: 200 },
    );
  });
});

it("keeps members of a request that the form does not know", () => {
  fc.assert(
    fc.property(completeBody, (body) => {
      const request = { ...(body as unknown as Json), extra: { kept: true } };
      const same = { ...request, outputs: outputsSection(outputList(request.outputs)) };
      expect(same).toEqual(request);
      const changed = withValue(request, ["settings", "priority"], 3);
      expect(withValue(changed, ["settings", "priority"], undefined).extra).toEqual({ kept: true });
    }),
  );
});

it("plans incomplete requests", () => {
  const storages = Object.keys(STORAGES).map((service) => (service === "url" ? { url: "" } : { service }));
  for (const storage of storages) {
    const r2 = storage.service === "r2" ? { account_id: "0123456789abcdef0123456789abcdef" } : {};
    const request = { input: { url: "" }, storage: { ...storage, ...r2 }, outputs: { mp4: { path: "a.mp4" } } };
    expect([storage, error(plannable(request))]).toEqual([storage, ""]);
  }
  expect(missingIn({ storage: { service: "s3" }, outputs: {} }).map(({ field }) => field)).toEqual([
    "input.url",
    "storage.bucket",
    "storage.credentials.access_key_id",
    "storage.credentials.secret_access_key",
    "outputs",
  ]);
});

it("shows no secret in the JSON to edit", () => {
  fc.assert(
    fc.property(requests, (request) => {
      const maskedText = JSON.stringify(masked(request));
      expect(maskedText).not.toMatch(/"hunter2"|aHVudGVyMg/);
      if (JSON.stringify(request).includes('"secret_access_key"')) expect(maskedText).toContain(KEPT);
    }),
    { numRuns: 100 },
  );
});

// ── Examples of the documentation ───────────────────────────────────────────────────────────────────────────────────

const ROOT = join(import.meta.dirname, "../../..");
const PAGES = ["README.md", ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith(".md"),
);

const SECTIONS = new Set(["input", "storage", "outputs", "notification", "settings"]);

/** Requests, and parts of requests, in code blocks. `…` stands for people's own values. */
function examplesIn(page: string): [string, Json][] {
  const text = readFileSync(join(ROOT, page), "utf8");
  const blocks = [...text.matchAll(/```(?:json|sh)\n(.*?)```/gs)].map(([, block = ""]) => block.trim());
  return blocks.flatMap((block) => {
    const body = /-d '(\{.*?\n\}|\{[^\n]*\})'/s.exec(block)?.[1] ?? (block.startsWith('"') ? `{${block}}` : block);
    try {
      const value: unknown = JSON.parse(body.replaceAll("…", "example"));
      if (!isObject(value)) return [];
      const names = Object.keys(value);
      const request = names.some((name) => SECTIONS.has(name))
        ? value
        : names.some((name) => name === "httpstream" || /^(?:mp4|jpg|webm|gif)\b/.test(name))
          ? { outputs: value }
          : null;
      return request === null
        ? []
        : [[`${page}: ${body.replaceAll(/\s+/g, " ").slice(0, 50)}`, request] as [string, Json]];
    } catch {
      return [];
    }
  });
}

describe("examples of the documentation open in the builder", () => {
  const examples = PAGES.flatMap(examplesIn);
  it.each(examples)("opens the example %s in the builder", (_, request) => {
    const opened = requestOfHash(hashOfRequest(request));
    expect(error(plannable({ outputs: { mp4: { path: "a.mp4" } }, ...opened }))).toBe("");
  });
  it("finds the examples of the documentation", () => expect(examples.length).toBeGreaterThan(8));
});
