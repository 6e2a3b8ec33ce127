// The fields of a new node token, here and under Settings.
import type { NewNodeToken } from "../../client/index.ts";
import { admin } from "../core/service.ts";

export function TokenFields() {
  return (
    <>
      <div class="field">
        <label for="token-name">Name</label>
        <input id="token-name" name="name" required maxLength={100} placeholder="rack 2" />
      </div>
      <div class="field">
        <label for="token-pool">Pool</label>
        <input id="token-pool" name="pool" placeholder="default" />
      </div>
      <div class="field">
        <label for="token-labels">Labels</label>
        <input id="token-labels" name="labels" placeholder="gpu region:eu" />
      </div>
    </>
  );
}

/** Creates the token that the fields of a form describe. */
export function createToken(form: HTMLFormElement): Promise<NewNodeToken> {
  const text = (name: string): string => String(new FormData(form).get(name) ?? "").trim();
  const labels = text("labels")
    .split(/[\s,]+/)
    .filter((label) => label !== "");
  const pool = text("pool");
  return admin.nodeTokens.create({ name: text("name"), labels, ...(pool === "" ? {} : { pool }) });
}
