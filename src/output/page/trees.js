/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tree that is made by merging: what is called alike below the same frame is one. */
function merging() {
	const known = new Map(), nodes = [];
	/* The node of FRAME below ABOVE, added if it is new; -1: it is the root. */
	function add(above, frame) {
		const key = above * (data.frames.length / 3) + frame;
		let node = known.get(key);
		if (node === undefined) {
			node = nodes.length;
			known.set(key, node);
			nodes.push({ frame, own: 0, samples: 0, children: [] });
			if (above >= 0)
				nodes[above].children.push(node);
		}
		return node;
	}
	function count(node, own, samples) {
		nodes[node].own += own;
		nodes[node].samples += samples;
	}
	/* Depth first; frames are numbered in the order in which neighbours stand. */
	function finish() {
		const tree = { frame: [], own: [], samples: [], parent: [] }, waiting = [[0, -1]];
		while (waiting.length) {
			const [node, above] = waiting.pop(), { frame, own, samples, children } = nodes[node];
			const place = tree.frame.length;
			tree.frame.push(frame);
			tree.own.push(own);
			tree.samples.push(samples);
			tree.parent.push(above);
			children.sort((left, right) => nodes[right].frame - nodes[left].frame);
			for (const child of children)
				waiting.push([child, place]);
		}
		return tree;
	}
	return { add, count, finish };
}

/* What is looked at, of what was recorded. */
const chosen = {
	vm: -1, process: -1, /* frames; -1: all */
	mode: "", /* as for --mode, or "": all */
	span: null, /* [first, last] bucket; null: all */
};
const MODE_WORDS = { 4: "guest kernel", 5: "guest user", 6: "host kernel", 7: "host user", 8: "other" };
const isChosen = node => (chosen.vm < 0 || vmOf[node] == chosen.vm) && (chosen.process < 0 || processOf[node] == chosen.process);
const isMode = mode => chosen.mode.split(",").every(word => !word || MODE_WORDS[mode].split(" ").includes(word));
/* For each slot, whether its samples are chosen, at whatever time. */
const chosenSlots = () => Uint8Array.from(times.node, (node, slot) => isChosen(node) && isMode(times.mode[slot]));

/* The samples of each node of what was recorded, as far as they are chosen. */
function chosenSamples() {
	const nodes = recorded.frame.length, own = new Float64Array(nodes), samples = new Float64Array(nodes);
	if (!chosen.span && !chosen.mode) {
		for (let i = 0; i < nodes; i++)
			if (isChosen(i)) {
				own[i] = recorded.own[i];
				samples[i] = recorded.samples[i];
			}
		return { own, samples };
	}
	const taken = chosenSlots(), [from, to] = chosen.span || [0, times.buckets - 1];
	for (let i = times.first[from]; i < times.first[to + 1]; i++) {
		const node = times.node[times.slot[i]];
		if (taken[times.slot[i]]) {
			own[node] += times.weight[i];
			samples[node] += times.taken[i];
		}
	}
	return { own, samples };
}

/* What is chosen of what was recorded, with vCPUs or without. */
function chosenTree(vcpus) {
	const all = chosen.vm < 0 && chosen.process < 0 && !chosen.mode && !chosen.span;
	if (all && (vcpus || !hasVcpus))
		return recorded;
	const { own, samples } = all ? recorded : chosenSamples();
	const below = Float64Array.from(samples), to = [], merged = merging();
	for (let i = below.length - 1; i > 0; i--)
		below[recorded.parent[i]] += below[i];
	for (let i = 0; i < below.length; i++) {
		const frame = recorded.frame[i], above = i ? to[recorded.parent[i]] : -1;
		if (i && !below[i])
			continue;
		to[i] = !vcpus && data.frames[3 * frame + 2] == VCPU ? above : merged.add(above, frame);
		merged.count(to[i], own[i], samples[i]);
	}
	return merged.finish();
}

/* All that FRAME calls in TREE, wherever it is called: its calls of itself are among that. */
function calleesOf(tree, frame) {
	const to = new Int32Array(tree.frame.length).fill(-1), merged = merging();
	merged.add(-1, frame);
	for (let i = 1; i < tree.frame.length; i++) {
		const above = to[tree.parent[i]];
		if (above >= 0)
			to[i] = merged.add(above, tree.frame[i]);
		else if (tree.frame[i] == frame)
			to[i] = 0;
		if (to[i] >= 0)
			merged.count(to[i], tree.own[i], tree.samples[i]);
	}
	return merged.finish();
}

/* Who calls FRAME in TREE, with the callers of each below it. Calls of itself count once. */
function callersOf(tree, frame) {
	const own = tree.own.slice(), samples = tree.samples.slice(), merged = merging();
	const inside = new Uint8Array(tree.frame.length);
	merged.add(-1, frame);
	for (let i = 1; i < tree.frame.length; i++)
		inside[i] = tree.frame[i] == frame || inside[tree.parent[i]];
	for (let i = tree.frame.length - 1; i > 0; i--) {
		const above = tree.parent[i];
		if (inside[i] && inside[above]) {
			own[above] += own[i];
			samples[above] += samples[i];
		}
	}
	for (let i = 1; i < tree.frame.length; i++) {
		let node = 0;
		if (!inside[i] || inside[tree.parent[i]])
			continue;
		for (let above = tree.parent[i]; above > 0; above = tree.parent[above])
			node = merged.add(node, tree.frame[above]);
		merged.count(node, own[i], samples[i]);
	}
	return merged.finish();
}

/* Both: who calls FRAME, from the node upper on, and what it calls, before. */
function sandwichOf(tree, frame) {
	const both = calleesOf(tree, frame), callers = callersOf(tree, frame);
	const upper = both.frame.length;
	for (let i = 1; i < callers.frame.length; i++) {
		both.frame.push(callers.frame[i]);
		both.own.push(callers.own[i]);
		both.samples.push(callers.samples[i]);
		both.parent.push(callers.parent[i] ? callers.parent[i] + upper - 1 : 0);
	}
	both.upper = upper;
	return both;
}

/* For each function in TREE: samples of its own, and with what it calls. Recursion counts once. */
function functionsOf(tree) {
	const functions = new Map(), open = new Map(), path = [], below = Float64Array.from(tree.own);
	for (let i = below.length - 1; i > 0; i--)
		below[tree.parent[i]] += below[i];
	for (let i = 0; i < below.length; i++) {
		while (path.length && path[path.length - 1] != tree.parent[i]) {
			const left = tree.frame[path.pop()];
			open.set(left, open.get(left) - 1);
		}
		const frame = tree.frame[i], inside = open.get(frame) || 0;
		open.set(frame, inside + 1);
		path.push(i);
		if (data.frames[3 * frame + 2] < FUNCTION)
			continue;
		let row = functions.get(frame);
		if (!row)
			functions.set(frame, row = { frame, own: 0, total: 0, samples: 0 });
		row.own += tree.own[i];
		row.samples += tree.samples[i];
		row.total += inside ? 0 : below[i];
	}
	return [...functions.values()];
}
