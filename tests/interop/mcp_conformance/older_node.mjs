// The suite asks for Node 22, for one function that no scenario of ours calls; Debian has Node 20.
import fs from "node:fs";
import { register } from "node:module";
if (!fs.globSync) register("./without_glob.mjs", import.meta.url);
