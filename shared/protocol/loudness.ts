// The loudness of audio that the task `audio` encodes.
import * as z from "zod";
import { OutputLoudness } from "../job/loudness.ts";
import { OutputIndex } from "./uploads.ts";

export const AudioLoudness = z.object({ output: OutputIndex, mixes: OutputLoudness });
