/** CommonJS: the package is an ES module, which Node lets it require. */
const client = require("@berth/client");
const { work } = require("./work.mjs");

void work(client).then((line) => console.log(line));
