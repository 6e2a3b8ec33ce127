// The part of the source that an output shows (`crop`).
import type { Failure } from "../../errors.ts";
import type { VideoFacts } from "../../media/source-facts.ts";
import { type Crop, pixelsOf, SMALLEST_CROP } from "../../parameters/crop.ts";
import type { Size } from "../source/frame-size.ts";
import type { VideoTrack } from "../source/source-tracks.ts";

/** Size of the decoder's frames after the source's own rotation. */
export function decodedSize({ codedWidth, codedHeight, rotation }: VideoFacts): Size {
  const [width, height] = rotation % 180 === 0 ? [codedWidth, codedHeight] : [codedHeight, codedWidth];
  return { width, height };
}

/** Display size of the shown part, before the output's own rotation. */
export function shownSize(crop: Crop | undefined, track: VideoTrack): Size {
  const { displayWidth, displayHeight } = track.facts;
  if (!crop) return { width: displayWidth, height: displayHeight };
  const { across, down } = areaOf(crop, track);
  const decoded = decodedSize(track.facts);
  return {
    width: Math.max(1, Math.round((across.length * displayWidth) / decoded.width)),
    height: Math.max(1, Math.round((down.length * displayHeight) / decoded.height)),
  };
}

/** Crops frames of the decoded size. */
export function cropFilters(crop: Crop | undefined, track: VideoTrack): string[] {
  if (!crop) return [];
  const { across, down } = areaOf(crop, track);
  return [`crop=${across.length}:${down.length}:${across.start}:${down.start}`];
}

/** Returns the reason why the source has no such part; null if it has. */
export function cropFailure(crop: Crop | undefined, { facts }: VideoTrack): Failure | null {
  if (!crop) return null;
  const [width, height] = [facts.displayWidth, facts.displayHeight];
  const right = Math.round(pixelsOf(crop.x, width) + pixelsOf(crop.width, width));
  const bottom = Math.round(pixelsOf(crop.y, height) + pixelsOf(crop.height, height));
  const source = `the input's frames have ${width}x${height}`;
  if (right > width || bottom > height) {
    return notPossible(`The rectangle of \`crop\` reaches to ${right}x${bottom} pixels, and ${source}.`);
  }
  const smallest = Math.min(pixelsOf(crop.width, width), pixelsOf(crop.height, height));
  return smallest < SMALLEST_CROP
    ? notPossible(`The rectangle of \`crop\` has a side below ${SMALLEST_CROP} pixels, because ${source}.`)
    : null;
}

const notPossible = (message: string): Failure => ({ code: "crop_not_possible", message });

/** Start and length of the part, in decoded pixels. They are even for YUV, because its chroma may have half the size. */
function areaOf(crop: Crop, { facts, color }: VideoTrack) {
  const decoded = decodedSize(facts);
  const step = color.isRgb ? 1 : 2;
  return {
    across: sideOf(crop.x, crop.width, { shown: facts.displayWidth, decoded: decoded.width, step }),
    down: sideOf(crop.y, crop.height, { shown: facts.displayHeight, decoded: decoded.height, step }),
  };
}

type Side = { readonly shown: number; readonly decoded: number; readonly step: number };

function sideOf(start: Crop["x"], size: Crop["x"], { shown, decoded, step }: Side) {
  const first = pixelsOf(start, shown);
  const [from = 0, to = 0] = [first, first + pixelsOf(size, shown)].map((pixels) =>
    Math.min(decoded, step * Math.round((pixels * decoded) / shown / step)),
  );
  const inside = Math.max(0, Math.min(from, decoded - step));
  return { start: inside, length: Math.max(step, to - inside) };
}
