import { ANSWER_EXAMPLES } from "../../openapi/examples/answers.ts";
import { type Html, html, json, section } from "../markup.ts";

export const metadata = (): Html =>
  section(
    2,
    "metadata",
    "Metadata",
    html`<p>What ffprobe says of the input and of every finished output, complete: <code>format</code> is the file,
<code>streams</code> its tracks. <a href="#getJobMetadata">All of a job</a> can be read at once, or
<a href="#getKeyMetadata">that of one key</a>: <code>input</code> and <code>source</code> both name the input. The metadata of an
HTTP stream is kept under <code>hls</code> and <code>dash</code>. Images have none, nor have outputs that failed or were
skipped.</p>`,
    json(ANSWER_EXAMPLES.KeyMetadata, "Metadata of one output"),
  );
