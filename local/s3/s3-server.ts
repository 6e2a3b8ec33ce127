// The entry of the S3 server's process. Its data is in $COPRA_HOME/s3.
import { join } from "node:path";
import { createLogger, logCrash } from "#shared/log.ts";
import { BUCKET, SCRATCH_BUCKET } from "../home/constants.ts";
import { loadSecrets } from "../home/secrets.ts";
import { serviceOf } from "../home/service-settings.ts";
import { readSettings } from "../home/settings.ts";
import { startS3 } from "./s3-app.ts";

const log = createLogger({ write: (line) => console.log(line), now: Date.now, level: "info" }, { part: "s3" });
process.on("uncaughtException", (error) => {
  logCrash(log, error);
  process.exit(1);
});
const { home, s3Port } = readSettings(process.env);
const { s3: credentials } = loadSecrets(home);
const directory = join(home, "s3");
const { bind, s3Url } = serviceOf(process.env);
// Without a URL for other machines, the server is only for this machine.
const address = s3Url === null ? "127.0.0.1" : bind;
const server = await startS3(
  { port: s3Port, address, directory, bucket: BUCKET, privateBuckets: [SCRATCH_BUCKET], credentials },
  log,
);
log.info("server started", { port: server.port });
process.once("SIGTERM", () => void server.close().then(() => process.exit(0)));
