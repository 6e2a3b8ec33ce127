// Runs for a moment in a network namespace: makes a listener there and hands it to the node (loopback-network.ts).
import { createServer } from "node:net";

const server = createServer();
server.listen(0, "127.0.0.1", () => process.send?.("listening", server));
