// Metadata of inputs and outputs.
import { RESPONSE_EXAMPLES } from "../../openapi/examples/responses.ts";
import { type Html, html, json, section } from "../markup.ts";

export const metadata = (): Html =>
  section(
    2,
    "metadata",
    "Metadata",
    html`<p>The complete data of ffprobe about the input and each finished output: <code>format</code> describes the file,
<code>streams</code> its tracks. Read the metadata <a href="#getJobMetadata">of a whole job</a> or
<a href="#getKeyMetadata">for one key</a>; the keys <code>input</code> and <code>source</code> mean the input. An HTTP stream has
the metadata of all tracks in <code>hls</code> and <code>dash</code>, with the URL of the playlist or manifest as the file name,
and with the encryption key if the service created it. Images, failed outputs and skipped outputs have no metadata.</p>`,
    json(RESPONSE_EXAMPLES.KeyMetadata, "Metadata of one output"),
  );
