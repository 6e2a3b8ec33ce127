// Lets scripts that stand for ffmpeg run the real one. The sandbox of a process is made once, with the folders that it
// finds in the environment then, and files share a process: no test file can name them in time.
import { dirname } from "node:path";
import { locateFfmpeg } from "../../encoder-node/ffmpeg/discover/locate.ts";
import { TOOL_FOLDERS_VARIABLE } from "../../encoder-node/ffmpeg/sandbox/sandbox-mounts.ts";

process.env[TOOL_FOLDERS_VARIABLE] ??= dirname((await locateFfmpeg(process.env)).ffmpeg.path);
