/* SPDX-License-Identifier: GPL-2.0-or-later */
const $ = id => document.getElementById(id);
const data = JSON.parse($("data").textContent);
$("data").remove();

const ROW = 21, TEXT_MIN = 26, DRAW_MIN = 0.4;
/* By number, as in the data: label, hue, and saturation and lightness in light and in dark. */
const KINDS = [
	["all", 222, 10, 82, 8, 30],
	["VM", 222, 22, 76, 16, 36],
	["vCPU", 222, 16, 84, 12, 31],
	["process", 266, 32, 83, 20, 38],
	["guest kernel", 14, 84, 69, 52, 42],
	["guest user", 42, 90, 65, 56, 37],
	["host kernel", 212, 62, 74, 36, 41],
	["host user", 168, 42, 68, 32, 34],
	["other", 0, 0, 76, 0, 36],
	["too small to be shown apart", 222, 6, 90, 5, 24],
];
const SMALL = 9;

/* Whether a difference is more than chance, as in the data. */
const FEW = 0, CERTAIN = 2;
/* The tree as it stands in the data: below a VM are its vCPUs. */
const VM = 1, VCPU = 2, PROCESS = 3, FUNCTION = 4;
const recorded = { frame: [], own: [], samples: [], parent: [] };
const hasVcpus = data.frames.some((kind, i) => i % 3 == 2 && kind == VCPU);
function read() {
	for (let i = 0, taken = 0, before = -1; i < data.tree.length / 3; i++) {
		let above = before;
		for (let up = data.tree[3 * i + 2]; up > 0; up--)
			above = recorded.parent[above];
		recorded.frame.push(data.tree[3 * i]);
		recorded.own.push(data.tree[3 * i + 1]);
		recorded.parent.push(above);
		recorded.samples.push(data.tree[3 * i + 1] ? data.samples[taken++] : 0);
		before = i;
	}
}
read();
/* Of two recordings, which have no vCPUs: what the first one has of each node. */
const base = data.base && { own: [], samples: [], verdict: data.base.verdict, margin: [] };
if (base) {
	let samples = 0, margins = 0;
	for (let i = 0; i < recorded.frame.length; i++) {
		base.own.push(data.base.tree[i]);
		base.samples.push(data.base.tree[i] ? data.base.samples[samples++] : 0);
		base.margin.push(base.verdict[i] ? data.base.margin[margins++] : 0);
	}
}

/*
 * A report's samples: entry i is of the slot slot[i], those of bucket b are from first[b] to
 * first[b + 1]. A slot is of a node and a mode.
 */
function readTimes({ list, slots, buckets, rounding, usual }) {
	const text = atob(list), most = text.length;
	const taken = new Float64Array(most), weight = new Float64Array(most);
	const slot = new Uint32Array(most), first = new Uint32Array(buckets + 1);
	let at = 0, count = 0;
	function number() {
		for (let value = 0, scale = 1; ; scale *= 128) {
			const byte = text.charCodeAt(at++);
			value += (byte & 127) * scale;
			if (byte < 128)
				return value;
		}
	}
	for (let bucket = 0; bucket < buckets; bucket++) {
		let before = 0;
		for (let left = number(); left > 0; left--, count++) {
			const word = number();
			before += Math.floor(word / 4);
			slot[count] = before;
			taken[count] = word % 2 ? number() : 1;
			weight[count] = (word % 4 > 1 ? number() : taken[count] * usual) * rounding;
		}
		first[bucket + 1] = count;
	}
	const node = new Uint32Array(slots.length / 2), mode = new Uint8Array(slots.length / 2);
	for (let i = 0, before = 0; i < node.length; i++) {
		before += slots[2 * i];
		node[i] = before;
		mode[i] = slots[2 * i + 1];
	}
	return { slot, first, taken, weight, node, mode, buckets };
}
const times = data.times && readTimes(data.times);
if (times)
	data.times.list = data.times.slots = null;
/* The frame of the VM, and of the process, that each node is of or below; -1: of none. */
const vmOf = new Int32Array(recorded.frame.length).fill(-1);
const processOf = new Int32Array(recorded.frame.length).fill(-1);
for (let i = 1; i < recorded.frame.length; i++) {
	const kind = data.frames[3 * recorded.frame[i] + 2], above = recorded.parent[i];
	vmOf[i] = kind == VM ? recorded.frame[i] : vmOf[above];
	processOf[i] = kind == PROCESS ? recorded.frame[i] : processOf[above];
}
