// An output in the list: its name, figures and actions.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Output, QualityMetadata } from "../../../client/index.ts";
import { bytes, duration, short } from "../../core/format.ts";
import { endOf, fractionOf } from "../../jobs/rows.ts";
import { Button } from "../../parts/controls/button.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Facts } from "../../parts/facts.tsx";
import { First } from "../../parts/first.tsx";
import { Progress } from "../../parts/progress.tsx";
import { Status } from "../../parts/status.tsx";
import { QualityReport } from "../quality/quality-report.tsx";
import type { Figure } from "./figures.ts";
import { isHttp, type Playable } from "./playable.ts";

type Props = {
  readonly output: Output;
  readonly size: ComponentChildren;
  readonly figures: readonly Figure[];
  /** The quality, if it was measured. */
  readonly quality: QualityMetadata | undefined;
  readonly playables: readonly Playable[];
  readonly play: (playable: Playable) => void;
  /** null: there is nothing to compare the output with. */
  readonly compare: ((playable: Playable) => void) | null;
};

export function OutputItem({ output, size, figures, quality, playables, play, compare }: Props) {
  const { key, format, status, progress, note, live } = output;
  const [first] = playables;
  const isRunning = /encoding|processing|packaging|queued/.test(status) && progress !== undefined;
  return (
    <>
      <div class="output-title">
        <div class="row">
          <h3 class="mono">{key}</h3>
          {format !== key && <span class="mono muted">{format}</span>}
          <Status status={status} />
        </div>
        {size}
        {isRunning && <Progress value={fractionOf({ progress })} label={`Progress of ${key}`} />}
        {live && <span class="chip">{duration(live.seconds)} can be played</span>}
        <div class="row spring">
          {playables.map((playable) => (
            <Button
              key={playable.id}
              icon="play"
              text={playables.length > 1 ? `Play ${nameOf(playable)}` : "Play"}
              of={key}
              onClick={() => play(playable)}
            />
          ))}
          {compare && first && <Button text="Compare" of={key} onClick={() => compare(first)} />}
        </div>
      </div>
      {note !== undefined && <p class="detail">{note}</p>}
      {figures.length > 0 && <Facts look="figures" facts={figures} />}
      {quality && <QualityReport quality={quality} name={key} />}
      <Links output={output} />
      {output.type === "image" && <Gallery urls={textsOf(output)} name={key} />}
    </>
  );
}

/** In bytes. `of`: the source, or 0 if unknown; `largest`: the whole bar. */
type SizeProps = { readonly size: number; readonly of: number; readonly largest: number };

/** A size as a bar in proportion to the job's other sizes, and as text. */
export const Size = ({ size, of, largest }: SizeProps) => (
  <span class="size">
    <span class="bar" style={{ "--share": size / largest }} aria-hidden="true" />
    {bytes(size)}
    {of > 0 && of !== size && <span class="muted">{short((100 * size) / of)} % of the source</span>}
  </span>
);

const nameOf = ({ medium: { kind, source } }: Playable): string =>
  kind === "dash" ? "DASH" : `HLS${typeof source === "string" && /\/dash\//.test(source) ? " (fMP4)" : ""}`;

const textsOf = ({ urls = [] }: Output): string[] => urls.filter((url) => typeof url === "string");

/** The URLs of the output. The gallery links images that a browser can read. */
function Links({ output: { url, urls = [], type } }: { readonly output: Output }) {
  const texts = urls.map((entry) => (typeof entry === "string" ? entry : entry.url));
  const links =
    url !== undefined
      ? [url]
      : type === "image"
        ? texts.filter((text) => text.endsWith(".vtt") || !isHttp(text))
        : texts;
  if (links.length === 0) return null;
  // Playlists of a stream may have the same name, in a folder each.
  return (
    <ul class="links">
      {links.map((link) => (
        <li key={link}>
          <a {...(isHttp(link) ? { href: link } : {})} target="_blank" rel="noreferrer" class="ellipsis" title={link}>
            {endOf(link, links.length > 1 ? 2 : 1)}
          </a>
          <CopyButton text={link} label="Copy the URL" />
        </li>
      ))}
    </ul>
  );
}

// The images of an output.

/** The other images are shown on request. */
const FIRST = 24;

function Gallery({ urls, name }: { readonly urls: readonly string[]; readonly name: string }) {
  const images = urls.filter((url) => isHttp(url) && !/\.vtt$/i.test(url));
  const [missing, setMissing] = useState(false);
  if (images.length === 0) return null;
  return (
    <div class="gallery">
      {missing && (
        <p class="detail">
          Some images cannot be loaded: the storage may not let them be read, or no longer have them.
        </p>
      )}
      <First of={images} count={FIRST}>
        {(first) => (
          <ul>
            {first.map((url, index) => (
              <li key={url}>
                <a href={url} target="_blank" rel="noreferrer">
                  <img
                    src={url}
                    alt={`${name}, ${index + 1} of ${images.length}`}
                    loading="lazy"
                    decoding="async"
                    referrerpolicy="no-referrer"
                    onError={() => setMissing(true)}
                  />
                </a>
              </li>
            ))}
          </ul>
        )}
      </First>
    </div>
  );
}
