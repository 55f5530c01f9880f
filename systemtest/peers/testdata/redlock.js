// A process that locks with the package redlock. It says "ready", waits for a line, and then enters the section under the lock,
// again and again, until its input ends; internal/interop says how.
//
// Arguments: the server, the name of the lock, the section's folder, the name of this process.
"use strict";

const fs = require("fs");
const path = require("path");
const readline = require("readline");
const Redis = require("ioredis");
const Redlock = require("redlock");

const [server, lock, folder, name] = process.argv.slice(2);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const count = path.join(folder, "count");

// other is the file of somebody else who is inside; empty when nobody is.
function other(mark) {
  return fs.readdirSync(folder).find((f) => f !== mark && /\.(writes|reads)$/.test(f)) || "";
}

async function visit() {
  const mark = name + ".writes";
  fs.writeFileSync(path.join(folder, mark), "");
  const before = other(mark);
  const n = Number(fs.readFileSync(count, "utf8") || 0);
  await pause(1);
  fs.writeFileSync(count, String(n + 1));
  const beside = before || other(mark);
  fs.unlinkSync(path.join(folder, mark));
  console.log(beside ? `wrote beside ${beside}` : "wrote");
}

async function main() {
  const [host, port] = server.split(":");
  const client = new Redis({ host, port: Number(port) });
  const locks = new Redlock([client], { retryCount: -1, retryDelay: 10, retryJitter: 10 });
  const input = readline.createInterface({ input: process.stdin });
  const began = new Promise((resolve) => input.once("line", resolve));
  let over = false;
  input.once("close", () => (over = true));
  console.log("ready");
  await began;
  while (!over) {
    const held = await locks.lock(lock, 10000);
    await visit();
    await held.unlock();
    await pause(30 * Math.random());
  }
  client.disconnect();
}

main().catch((err) => {
  console.error(err);
  process.exit(1);
});
