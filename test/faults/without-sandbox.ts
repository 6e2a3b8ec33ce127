// Loaded with --import into nodes whose ffmpeg is a script that writes to its own files.
import { withoutSandbox } from "../../encoder-node/ffmpeg/sandbox/isolation.ts";

await withoutSandbox();
