// Where sources come from and results go: one folded table for each service.
import type { OpenApiDocument } from "../../openapi/document-shape.ts";
import { type Html, html, section } from "../markup.ts";
import { foldedMembers } from "../schema-view.ts";

type Schemas = OpenApiDocument["components"]["schemas"];

export const inputs = (schemas: Schemas): Html =>
  section(
    2,
    "inputs",
    "Input",
    html`<p>An address with http or https, or an object in a bucket. Addresses that lead into private networks are refused,
at every redirect, unless the operator allows them.</p>`,
    foldedMembers(schemas, "InputRequest"),
  );

export const storages = (schemas: Schemas): Html =>
  section(
    2,
    "storages",
    "Storage",
    html`<p>Outputs are uploaded by signed requests for single objects. Encoder nodes never see the keys of a storage; they are
sealed when the job is created, shown never again, and deleted with the job, seven days after its end. The address of
an output in answers is that of the object; whether it can be read there is the bucket's to say.</p>`,
    foldedMembers(schemas, "Storage"),
  );
