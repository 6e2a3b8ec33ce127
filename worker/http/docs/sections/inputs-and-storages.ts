// Inputs and storages: a collapsed table per service.
import type { OpenApiDocument } from "../../openapi/document-shape.ts";
import { type Html, html, section } from "../markup.ts";
import { foldedMembers } from "../schema-view.ts";

type Schemas = OpenApiDocument["components"]["schemas"];

export const inputs = (schemas: Schemas): Html =>
  section(
    2,
    "inputs",
    "Input",
    html`<p>An http or https URL, an upload of the account, or an object in a bucket. URLs and redirects that lead to private networks are errors, unless the
operator allows them.</p>`,
    foldedMembers(schemas, "InputRequest"),
  );

export const storages = (schemas: Schemas): Html =>
  section(
    2,
    "storages",
    "Storage",
    html`<p>Nodes upload outputs with signed requests for single objects and never receive the credentials of a storage. The service
encrypts credentials when it creates the job, never returns them, and deletes them with the job, seven days after its end.
The URL of an output in responses is the URL of the object. The configuration of the bucket determines who can read it.</p>`,
    foldedMembers(schemas, "Storage"),
  );
