// copra restore <backup> <data>: makes the data folder of a service from a backup.
import { resolve } from "node:path";
import { messageOf } from "#shared/log.ts";
import { restoreData } from "./restore-data.ts";

try {
  const [backup = "", home = ""] = process.argv
    .slice(2)
    .filter((text) => !text.startsWith("--"))
    .map((path) => resolve(path));
  const replace = process.argv.includes("--replace");
  const { manifest, replaced } = await restoreData({ backup, home, replace, now: new Date() });
  console.log(
    `${home} is as it was at ${manifest.createdAt} (version ${manifest.version}). Start it with: copra serve --data ${home}`,
  );
  if (replaced !== null) console.log(`The previous data is in ${replaced}.`);
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
