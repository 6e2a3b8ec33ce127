// Loaded with --import into nodes whose ffmpeg is a script that writes to files of its own.
import { withoutSandbox } from "../../encoder-node/ffmpeg/sandbox/isolation.ts";

await withoutSandbox();
