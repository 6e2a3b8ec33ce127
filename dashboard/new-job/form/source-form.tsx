// The source: a URL, a file of this computer, or an object in a bucket; and what the plan assumes about it.
import { useId } from "preact/hooks";
import { isObject, withValue } from "../request/edit.ts";
import type { FormField } from "../request/form-field.ts";
import { SOURCES } from "../request/section-fields.ts";
import type { Json } from "../secrets.ts";
import type { AssumedSource } from "../state.ts";
import { Field } from "./field.tsx";
import { Fields } from "./fields.tsx";
import { UploadField } from "./upload-field.tsx";
import type { Upload } from "./use-upload.ts";

const URL_FIELD: FormField = {
  member: "url",
  label: "URL",
  type: "text",
  example: "https://example.com/video.mov",
  first: true,
};

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
          <option value="url">A URL</option>
          <option value="upload">A file of this computer</option>
          {Object.entries(SOURCES).map(([value, { label }]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {kind === "upload" ? (
        <UploadField upload={upload} id={typeof section.upload === "string" ? section.upload : ""} />
      ) : (
        <Fields
          fields={service?.fields ?? [URL_FIELD]}
          name="input"
          section={section}
          change={(path, value) => set(withValue(section, path, value ?? (path[0] === "url" ? "" : undefined)))}
        />
      )}
    </>
  );
}

const SIDE: readonly FormField[] = [
  { member: "width", label: "Width", type: "number", example: "1920" },
  { member: "height", label: "Height", type: "number", example: "1080" },
  { member: "fps", label: "Frames per second", type: "number", example: "30" },
  { member: "duration", label: "Length in seconds", type: "number", example: "60" },
  { member: "rotation", label: "Rotation", type: "choice", choices: ["90", "180", "270"] },
];

/** What the dry run plans for; the source is read only by a real job. */
export function AssumedSourceForm({
  source,
  set,
}: {
  readonly source: AssumedSource;
  readonly set: (source: Json) => void;
}) {
  return (
    <details class="more">
      <summary>
        The plan assumes {source.width ?? 1920} × {source.height ?? 1080}, {source.fps ?? 30} fps,{" "}
        {source.duration ?? 60} s,
        {source.audio === false ? " without audio" : " with audio"}
      </summary>
      <div class="form-grid narrow">
        {SIDE.map((field) => (
          <Field
            key={field.member}
            field={field}
            name="source"
            section={source}
            change={(path, value) => set(withValue({ ...source }, path, value))}
          />
        ))}
        <div class="field">
          <label class="check">
            <input
              type="checkbox"
              checked={source.audio !== false}
              onChange={(event) => set({ ...source, audio: event.currentTarget.checked ? undefined : false })}
            />
            Audio
          </label>
        </div>
      </div>
    </details>
  );
}
