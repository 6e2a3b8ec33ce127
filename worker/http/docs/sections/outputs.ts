// The parameters of outputs, and the conditions that they are made under.
import { CONDITION_VARIABLES } from "#shared/condition-variables.ts";
import { MAX_OUTPUTS } from "#shared/request/outputs-section.ts";
import type { OpenApiDocument } from "../../openapi/document-shape.ts";
import { block, codes, type Html, html, section } from "../markup.ts";
import { schemaSections } from "../schema-view.ts";

/** Schemas that this section shows, with the headings that they have in it. */
export const OUTPUT_SCHEMAS = {
  VideoParams: "Video and sound",
  ImageParams: "Images",
  HttpStreamParams: "HTTP streams",
  FormatHash: "The format hash",
};

export const outputs = ({ components }: OpenApiDocument): Html =>
  section(
    2,
    "outputs",
    "Outputs",
    html`<p>The value of a format in <code>outputs</code> is an object of parameters, or an array of such objects for several
outputs of one format. A job has at most ${MAX_OUTPUTS} outputs. Each has a <code>key</code>: the one it gives, or its format,
with <code>:1</code>, <code>:2</code> and so on behind it in an array. No two outputs may have the same key or write the same
object. Paths lie below the storage's own <code>path</code> and may hold no <code>.</code> or <code>..</code> parts; where
more than one image may result, the file name needs a counter such as <code>%02d</code>, which begins at 1.</p>`,
    schemaSections(components.schemas, OUTPUT_SCHEMAS),
    conditions(),
  );

const conditions = (): Html =>
  section(
    3,
    "conditions",
    "Conditions",
    html`<p>An output with <code>if</code> is made only if the condition holds for the input; otherwise it is skipped. Conditions are
checked when the job is created and evaluated when the input was probed.</p>`,
    block(
      "{{ input.width }} >= 1280 and not {{ input.is_audio_only }}\n({{ input.rotation }} = 90 or {{ input.rotation }} = 270) and {{ input.duration }} > 60",
      "Conditions",
    ),
    html`<p>Operators: ${codes(["<", ">", "<=", ">=", "<>", "!=", "=", "and", "or", "not"])} and parentheses; texts stand in
quotes. Variables, each with <code>input.</code> in front: ${codes(CONDITION_VARIABLES)}. All that the metadata says can be
asked for as <code>input.metadata.format.…</code> and <code>input.metadata.streams.0.…</code>. Width and height are those of
the coded picture, with <code>rotation</code> beside them. A comparison with what the input lacks is false.</p>`,
  );
