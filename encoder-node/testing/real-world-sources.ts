// Sources with the properties of files that real use brought, by what is special about them. Each is made anew, in seconds.
import type { SourceWorkshop } from "./source-workshop.ts";

/** Makes the source in the workshop's folder and answers its path. */
export type RealWorldSource = (workshop: SourceWorkshop) => Promise<string>;

const X264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p";
const VIDEO = "-f lavfi -i testsrc2=s=96x64:r=10:d=2";
const TONE = "-f lavfi -i sine=r=48000:d=2";

/** 2 s at 10 frames a second, with audio. */
export const constantRateVideo: RealWorldSource = ({ make }) =>
  make("constant.mp4", `${VIDEO} ${TONE} ${X264} -g 10 -c:a aac`);
