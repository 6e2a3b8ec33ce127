// The source: a URL, a file on this computer, or an object in a bucket.
import { useId } from "preact/hooks";
import type { Probe } from "../../../client/index.ts";
import { bytes, timecode } from "../../core/format.ts";
import { frameRateOf } from "../../core/frame-rate.ts";
import { Fields } from "../form/fields.tsx";
import { isObject, withValue } from "../request/edit.ts";
import { CLIP, SOURCES } from "../request/section-fields.ts";
import type { Json } from "../secrets.ts";
import { UploadField } from "./upload-field.tsx";
import type { Probing } from "./use-probe.ts";
import type { Upload } from "./use-upload.ts";

type SourceKind = "url" | "upload" | (string & {});

const kindOf = (input: unknown): SourceKind => {
  if (!isObject(input)) return "url";
  if ("upload" in input) return "upload";
  return typeof input.service === "string" ? input.service : "url";
};

export function SourceForm({
  input,
  set,
  upload,
}: {
  readonly input: unknown;
  readonly set: (input: Json) => void;
  readonly upload: Upload;
}) {
  const id = useId();
  const kind = kindOf(input);
  const section = isObject(input) ? input : {};
  const service = Object.hasOwn(SOURCES, kind) ? SOURCES[kind] : undefined;
  const choose = (next: string): void => {
    const { bucket, region, key } = section;
    const place = { ...(bucket ? { bucket } : {}), ...(region ? { region } : {}), ...(key ? { key } : {}) };
    set(next === "url" ? { url: "" } : next === "upload" ? { upload: "" } : { service: next, ...place });
  };
  return (
    <>
      <div class="field">
        <label for={id}>From</label>
        <select id={id} data-field="input" value={kind} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="upload">A file of this computer</option>
          {Object.entries(SOURCES).map(([value, { label }]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {kind === "upload" ? (
        <>
          <UploadField upload={upload} id={typeof section.upload === "string" ? section.upload : ""} />
          <Fields
            fields={CLIP}
            name="input"
            section={section}
            change={(path, value) => set(withValue(section, path, value))}
          />
        </>
      ) : (
        <Fields
          fields={service?.fields ?? []}
          name="input"
          section={section}
          change={(path, value) => set(withValue(section, path, value ?? (path[0] === "url" ? "" : undefined)))}
        />
      )}
    </>
  );
}

/** Reads the source, so that the plan is made for its actual streams. */
export function ReadSource({ probing: { isReading, probe, error, read } }: { readonly probing: Probing }) {
  const why = probe?.error ?? (error instanceof Error ? error.message : null);
  return (
    <div class="read-source" aria-live="polite">
      <button type="button" disabled={read === null || isReading} onClick={() => read?.()}>
        {isReading ? "Reading …" : "Read the source"}
      </button>
      {isReading && <span class="muted">A node looks into the source</span>}
      {why !== null && (
        <span class="status bad">
          <span aria-hidden="true">✕</span> {why}
        </span>
      )}
      {probe?.metadata && <span>{sourceText(probe.metadata)}</span>}
    </div>
  );
}

/** `h264 1920 × 1080, 25 fps · aac 2 ch · 0:40 · 32 MB`. */
function sourceText({ streams, format }: NonNullable<Probe["metadata"]>): string {
  const tracks = streams.map((stream) => {
    const { codec_name: codec = "", width, height, channels } = stream;
    const fps = frameRateOf(stream);
    if (width !== undefined)
      return `${codec} ${width} × ${height}${fps === null ? "" : `, ${Number(fps.toFixed(3))} fps`}`;
    return channels === undefined ? codec : `${codec} ${channels} ch`;
  });
  const length = format?.duration === undefined ? [] : [timecode(Number(format.duration), 0)];
  const size = format?.size === undefined ? [] : [bytes(Number(format.size))];
  return [...tracks, ...length, ...size].join(" · ");
}
