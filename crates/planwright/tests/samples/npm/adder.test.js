const test = require("node:test");
const assert = require("node:assert");
const { add } = require("./adder.js");

test("two and two are four", () => assert.strictEqual(add(2, 2), 4));
