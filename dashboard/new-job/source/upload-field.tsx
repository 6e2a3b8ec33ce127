// The field to drop or choose a local file, and the progress of its upload.
import { useRef, useState } from "preact/hooks";
import { bytes } from "../../core/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Progress } from "../../parts/progress.tsx";
import { Below } from "../form/field.tsx";
import { useFieldError } from "../form/form-context.ts";
import type { Upload } from "./use-upload.ts";

export function UploadField({ upload, id }: { readonly upload: Upload; readonly id: string }) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const error = useFieldError("input.upload");
  const { state } = upload;
  const take = (files: FileList | null | undefined): void => {
    const file = files?.[0];
    if (file !== undefined) upload.start(file);
  };
  return (
    <section
      class={`drop ${isOver ? "over" : ""}`}
      aria-label="File"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      {state.kind === "none" ? (
        <p>
          {id === "" ? "Drop a media file here, or " : "An uploaded file is the source. Drop another file here, or "}
          <button type="button" data-field="input.upload" onClick={() => input.current?.click()}>
            <Icon name="upload" /> Choose a file
          </button>
        </p>
      ) : (
        <Sending upload={upload} again={() => input.current?.click()} />
      )}
      <input
        ref={input}
        type="file"
        class="visually-hidden"
        tabIndex={-1}
        aria-label="File to upload"
        accept="video/*,audio/*,.mkv,.mxf,.ts,.m2ts"
        onChange={(event) => take(event.currentTarget.files)}
      />
      <Below id={undefined} error={error} help={undefined} />
    </section>
  );
}

function Sending({ upload, again }: { readonly upload: Upload; readonly again: () => void }) {
  const { state } = upload;
  if (state.kind === "none") return null;
  const { kind, name, size, sent } = state;
  return (
    <div class="stack">
      <p class="ellipsis">
        <strong>{name}</strong> <span class="muted">{bytes(size)}</span>
      </p>
      {kind === "done" ? (
        <p role="status">
          <Icon name="check" /> Uploaded
        </p>
      ) : (
        <Progress value={size === 0 ? 0 : sent / size} label={`Upload of ${name}`} />
      )}
      {kind === "failed" && <Problem error={state.error} retry={upload.resume} />}
      <div class="row">
        {kind === "sending" && (
          <button type="button" onClick={upload.pause}>
            <Icon name="pause" /> Pause
          </button>
        )}
        {kind === "paused" && (
          <button type="button" onClick={upload.resume}>
            <Icon name="play" /> Resume
          </button>
        )}
        <button type="button" class="quiet" data-field="input.upload" onClick={again}>
          Another file
        </button>
      </div>
    </div>
  );
}
