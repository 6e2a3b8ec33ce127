// The fields of a new node token, here and under Settings.
import type { NewNodeToken } from "../../client/index.ts";
import { admin } from "../core/service.ts";
import { Field, type Fields } from "../parts/controls/form.tsx";

export const TokenFields = () => (
  <>
    <Field label="Name" name="name" required maxLength={100} placeholder="rack 2" />
    <Field label="Pool" name="pool" placeholder="default" />
    <Field label="Labels" name="labels" placeholder="gpu region:eu" />
  </>
);

/** Creates the token that the fields of a form describe. */
export function createToken({ text }: Fields): Promise<NewNodeToken> {
  const labels = text("labels")
    .split(/[\s,]+/)
    .filter((label) => label !== "");
  const pool = text("pool");
  return admin.nodeTokens.create({ name: text("name"), labels, ...(pool === "" ? {} : { pool }) });
}
