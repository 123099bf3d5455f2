// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a trace with the reader of Chrome's developer tools (@paulirish/trace_engine).
//
//	node read_chrome.mjs READER TRACE	READER: models/trace/handlers/SamplesHandler.js
//
// Prints JSON: for each sample its pid, tid, time in milliseconds, and functions, outermost first.
import fs from "node:fs";

const reader = await import(process.argv[2]);
const trace = JSON.parse(fs.readFileSync(process.argv[3], "utf8"));
reader.reset();
for (const event of trace.traceEvents)
	reader.handleEvent(event);
await reader.finalize();

const found = [];
for (const [pid, threads] of reader.data().profilesInProcess)
	for (const [tid, { parsedProfile }] of threads)
		parsedProfile.samples.forEach((id, i) => {
			const names = [];
			for (let node = parsedProfile.nodeById(id); node.parent; node = node.parent)
				names.unshift(node.functionName);
			found.push([pid, tid, parsedProfile.timestamps[i], names]);
		});
console.log(JSON.stringify(found));
