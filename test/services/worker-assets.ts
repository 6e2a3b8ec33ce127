// The files that the Worker serves, for the tests in workerd.
import { ensureAssets } from "../../local/assets/assets.ts";

export default async (): Promise<void> => {
  await ensureAssets();
};
