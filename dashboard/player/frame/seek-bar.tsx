// The seek bar, with thumbnails if available.
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { timecode } from "../../core/format.ts";
import type { SideBySide } from "./side-by-side.ts";
import { parseThumbnails, type Thumbnail, thumbnailAt } from "./thumbnails.ts";

/** The largest side of a visible thumbnail, in CSS pixels. */
const SHOWN_PX = 160;

export function SeekBar({ players }: { readonly players: SideBySide }) {
  const { leader } = players;
  const hovered = useSignal<number | null>(null);
  const thumbnails = useThumbnails(players.thumbnails);
  const value = useComputed(() => leader.time.value);
  const length = leader.length.value;
  const onPointerMove = ({ clientX, currentTarget }: PointerEvent): void => {
    if (!(currentTarget instanceof HTMLElement)) return;
    const { left, width } = currentTarget.getBoundingClientRect();
    hovered.value = Math.min(1, Math.max(0, (clientX - left) / width));
  };
  const onInput = ({ currentTarget }: Event): void => {
    if (currentTarget instanceof HTMLInputElement) players.seek(Number(currentTarget.value));
  };
  const leave = (): void => {
    hovered.value = null;
  };
  return (
    <div class="seek" onPointerMove={onPointerMove} onPointerLeave={leave}>
      <input
        type="range"
        aria-label="Position"
        aria-valuetext={`${timecode(value.value)} of ${timecode(length)}`}
        min={0}
        max={length}
        step={0.01}
        value={value.value}
        disabled={length === 0}
        onInput={onInput}
      />
      {hovered.value !== null && length > 0 && (
        <Preview share={hovered.value} seconds={hovered.value * length} thumbnails={thumbnails} />
      )}
    </div>
  );
}

type PreviewProps = {
  /** 0 to 1. */
  readonly share: number;
  readonly seconds: number;
  readonly thumbnails: readonly Thumbnail[];
};

function Preview({ share, seconds, thumbnails }: PreviewProps) {
  const box = useRef<HTMLDivElement>(null);
  const image = useRef<HTMLDivElement>(null);
  const thumbnail = thumbnailAt(thumbnails, seconds);
  useEffect(() => {
    box.current?.style.setProperty("--at", String(share));
    if (thumbnail && image.current) showPart(image.current, thumbnail);
  });
  return (
    <div ref={box} class="preview" aria-hidden="true">
      {thumbnail && <div ref={image} class="thumbnail" data-url={thumbnail.url} />}
      {timecode(seconds)}
    </div>
  );
}

function showPart({ style }: HTMLElement, { url, part }: Thumbnail): void {
  const scale = part ? SHOWN_PX / Math.max(part.width, part.height) : 1;
  style.setProperty("background-image", `url("${url.replace(/["\\\n]/g, encodeURIComponent)}")`);
  style.setProperty("width", part ? `${part.width}px` : `${SHOWN_PX}px`);
  style.setProperty("height", part ? `${part.height}px` : `${SHOWN_PX * 0.5625}px`);
  style.setProperty("background-size", part ? "auto" : "contain");
  style.setProperty("background-position", part ? `-${part.x}px -${part.y}px` : "center");
  style.setProperty("zoom", part ? String(scale) : "1");
}

/** The thumbnails of a WebVTT file; empty if the file cannot be read. */
function useThumbnails(url: string | null): readonly Thumbnail[] {
  const [thumbnails, setThumbnails] = useState<readonly Thumbnail[]>([]);
  useEffect(() => {
    if (url === null) return;
    const abort = new AbortController();
    fetch(url, { signal: abort.signal })
      .then((response) => (response.ok ? response.text() : ""))
      .then((text) => setThumbnails(parseThumbnails(text, url)))
      .catch(() => undefined);
    return () => abort.abort();
  }, [url]);
  return thumbnails;
}
