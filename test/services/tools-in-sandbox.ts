// Lets scripts that replace ffmpeg run the real ffmpeg. A process makes its sandbox once, with the folders in the
// environment at this time. Test files share a process, so none of them can set the folders in time.
import { dirname } from "node:path";
import { locateFfmpeg } from "../../encoder-node/ffmpeg/discover/locate.ts";
import { TOOL_FOLDERS_VARIABLE } from "../../encoder-node/ffmpeg/sandbox/sandbox-mounts.ts";

process.env[TOOL_FOLDERS_VARIABLE] ??= dirname((await locateFfmpeg(process.env)).ffmpeg.path);
