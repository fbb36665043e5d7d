/*
 * A call tree on a canvas. A node has name, file, module, line, kind, path, self, count, total and kids (a Map);
 * what these numbers stand for is the page's business. A page may give colourOf() for nodes.
 *
 *	const flame = new FlameGraph({ scroll, space, canvas, tip, details, kinds, nameOf, describe });
 *	flame.show(layOut(root, n), false);
 */
const FLAME_ROW = 18; /* height of a function in the graph */
const FLAME_MIN_WIDTH = 0.5; /* narrower ones are not drawn */

/* The nodes as arrays. Descendants follow their node, up to `end`; the largest child is first. */
function layOut(root, n) {
	const t = { n, depths: 0 };
	for (const key of ["name", "file", "module", "line", "kind", "parent", "depth", "end"])
		t[key] = new Int32Array(n);
	for (const key of ["self", "total", "count", "start", "path"])
		t[key] = new Float64Array(n);
	const stack = [{ node: root, parent: -1, start: 0 }];
	for (let at = 0; at < n; at++) {
		const { node, parent, start } = stack.pop();
		for (const key of ["name", "file", "module", "line", "kind", "self", "total", "count", "path"])
			t[key][at] = node[key];
		t.parent[at] = parent;
		t.start[at] = start;
		t.depth[at] = parent < 0 ? 0 : t.depth[parent] + 1;
		t.depths = Math.max(t.depths, t.depth[at] + 1);
		const kids = [...node.kids.values()].sort((a, b) => b.total - a.total);
		let next = start + node.total - node.self;
		/* The first child is taken from the stack first. */
		for (const kid of kids.reverse()) {
			next -= kid.total;
			stack.push({ node: kid, parent: at, start: next });
		}
	}
	for (let at = n - 1; at >= 0; at--) {
		t.end[at] = Math.max(t.end[at], at + 1);
		if (at)
			t.end[t.parent[at]] = Math.max(t.end[t.parent[at]], t.end[at]);
	}
	return t;
}

class FlameGraph {
	constructor(parts) {
		Object.assign(this, parts);
		this.tree = null;
		this.zoom = 0; /* node that fills the width */
		this.selected = 0;
		this.matches = null; /* by node: 1 where a search finds its name */
		this.icicle = false;
		this.drawn = 0;
		this.readColours();
		this.scroll.addEventListener("scroll", () => this.redraw());
		this.scroll.addEventListener("keydown", (event) => this.onKey(event));
		this.canvas.addEventListener("mousemove", (event) => {
			const i = this.nodeAt(event);
			placeTip(this.tip, i < 0 ? "" : this.describe(i), event);
		});
		this.canvas.addEventListener("mouseleave", () => { this.tip.hidden = true; });
		this.canvas.addEventListener("click", (event) => {
			const i = this.nodeAt(event);
			if (i >= 0)
				this.zoomTo(i);
		});
		addEventListener("resize", () => this.redraw());
		onDarkChange(() => {
			this.readColours();
			this.redraw();
		});
	}

	readColours() {
		this.colours = readStyle([...this.kinds, "card", "ink", "rule", "match", "focus", "frame-ink", "soft"]);
	}

	show(tree, icicle) {
		this.tree = tree;
		this.icicle = icicle;
		this.zoom = this.selected = 0;
		this.matches = null;
		this.draw();
		this.scroll.scrollTop = icicle ? 0 : tree.depths * FLAME_ROW;
		this.select(0);
		this.draw();
	}

	/* ---- searching ---- */

	/* @byName: by number of a name. Time below what was found counts once, however often it is found. */
	find(byName) {
		const t = this.tree;
		let sum = 0;
		this.matches = byName ? new Uint8Array(t.n) : null;
		for (let i = 1, until = 0; byName && i < t.n; i++) {
			this.matches[i] = byName[t.name[i]] ? 1 : 0;
			if (this.matches[i] && i >= until) {
				sum += t.total[i];
				until = t.end[i];
			}
		}
		this.redraw();
		return sum;
	}

	/* ---- drawing ---- */

	/* Where a depth is, from the top of the whole graph. */
	topOf(depth) {
		return (this.icicle ? depth : this.tree.depths - 1 - depth) * FLAME_ROW;
	}

	/* Place and width of a node; those around the zoomed one are as wide as the graph. */
	spanOf(i, width) {
		const t = this.tree;
		const scale = t.total[this.zoom] > 0 ? width / t.total[this.zoom] : 0;
		if (i <= this.zoom && t.end[i] > this.zoom)
			return [0, width];
		return [(t.start[i] - t.start[this.zoom]) * scale, t.total[i] * scale];
	}

	drawFrame(g, i, x, w, y) {
		const found = this.matches && this.matches[i];
		g.fillStyle = !i ? this.colours.rule :
			this.colourOf ? this.colourOf(i) : this.colours[this.kinds[this.tree.kind[i]]];
		g.globalAlpha = this.matches && !found ? 0.35 : 1;
		g.fillRect(x, y, Math.max(w - 1, FLAME_MIN_WIDTH), FLAME_ROW - 1);
		g.globalAlpha = 1;
		if (found) {
			g.fillStyle = this.colours.match;
			g.fillRect(x, y + FLAME_ROW - 4, Math.max(w - 1, FLAME_MIN_WIDTH), 3);
		}
		if (i === this.selected) {
			g.strokeStyle = this.colours.focus;
			g.lineWidth = 2;
			g.strokeRect(x + 1, y + 1, Math.max(w - 3, 1), FLAME_ROW - 3);
		}
		if (w < 24)
			return;
		g.fillStyle = i ? this.colours["frame-ink"] : this.colours.ink;
		g.fillText(fitText(this.nameOf(i), w - 8), x + 4, y + FLAME_ROW - 5);
	}

	/* Whether a node is neither around the zoomed one nor inside of it. */
	isOutside(i) {
		return this.tree.end[i] <= this.zoom || i >= this.tree.end[this.zoom];
	}

	draw() {
		const t = this.tree;
		if (!t)
			return;
		const width = this.scroll.clientWidth;
		const height = Math.min(t.depths * FLAME_ROW, this.maxHeight());
		const offset = this.scroll.scrollTop;
		this.space.style.height = t.depths * FLAME_ROW + "px";
		const g = fitCanvas(this.canvas, width, height);
		g.fillStyle = this.colours.card;
		g.fillRect(0, 0, width, height);
		g.font = LABEL_FONT;
		for (let i = 0; i < t.n;) {
			const [x, w] = this.isOutside(i) ? [0, 0] : this.spanOf(i, width);
			if (w < FLAME_MIN_WIDTH) {
				i = t.end[i];
				continue;
			}
			const y = this.topOf(t.depth[i]) - offset;
			if (y > -FLAME_ROW && y < height)
				this.drawFrame(g, i, x, w, y);
			i++;
		}
	}

	redraw() {
		cancelAnimationFrame(this.drawn);
		this.drawn = requestAnimationFrame(() => this.draw());
	}

	/* The node at a place of the canvas, or -1. */
	nodeAt(event) {
		const t = this.tree;
		const box = this.canvas.getBoundingClientRect();
		const row = Math.floor((event.clientY - box.top + this.scroll.scrollTop) / FLAME_ROW);
		const depth = this.icicle ? row : t.depths - 1 - row;
		const x = event.clientX - box.left;
		for (let i = 0; i < t.n;) {
			const [from, w] = this.isOutside(i) ? [0, 0] : this.spanOf(i, box.width);
			if (x < from || x >= from + w || t.depth[i] > depth) {
				i = t.end[i];
				continue;
			}
			if (t.depth[i] === depth)
				return i;
			i++;
		}
		return -1;
	}

	/* ---- selecting and zooming ---- */

	select(i) {
		const box = this.scroll;
		const top = this.topOf(this.tree.depth[i]);
		this.selected = i;
		this.details.textContent = this.describe(i).replaceAll("\n", " \u00b7 ");
		if (top < box.scrollTop || top + FLAME_ROW > box.scrollTop + box.clientHeight)
			box.scrollTop = top - box.clientHeight / 2;
		this.redraw();
	}

	zoomTo(i) {
		this.zoom = i;
		this.select(i);
	}

	/* The sibling before or after, inside of what is shown. */
	sibling(i, step) {
		const t = this.tree;
		const parent = t.parent[i];
		let before = i;
		if (i === this.zoom || parent < 0)
			return i;
		for (let k = parent + 1; k < t.end[parent]; k = t.end[k]) {
			if (step < 0 && k === i)
				return before;
			if (step > 0 && k > i)
				return k;
			before = k;
		}
		return i;
	}

	onKey(event) {
		const i = this.selected;
		const outer = () => Math.max(this.tree.parent[i], 0);
		const inner = () => this.tree.end[i] > i + 1 ? i + 1 : i;
		const actions = {
			ArrowLeft: () => this.select(this.sibling(i, -1)),
			ArrowRight: () => this.select(this.sibling(i, 1)),
			ArrowUp: () => this.select(this.icicle ? outer() : inner()),
			ArrowDown: () => this.select(this.icicle ? inner() : outer()),
			Home: () => this.select(this.zoom),
			Enter: () => this.zoomTo(i),
			Escape: () => this.zoomTo(0),
		};
		if (!this.tree || !actions[event.key] || event.ctrlKey || event.altKey || event.metaKey)
			return;
		actions[event.key]();
		event.preventDefault();
		event.stopPropagation();
	}
}
