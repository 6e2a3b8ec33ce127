// A helper program (loopback-network.ts): creates a listener in its network namespace, hands it to the node, and ends.
import { createServer } from "node:net";

const server = createServer();
server.listen(0, "127.0.0.1", () => process.send?.("listening", server));
