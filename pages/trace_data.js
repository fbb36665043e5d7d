/*
 * What the page holds: #head has tracks and the times of their tiles, #tables the names, blocks b0, b1, ... the
 * tiles and s0, s1, ... the summaries of each track. timeline/README.md has their layout.
 */
const head = JSON.parse($("head").textContent);
const tables = { names: [""], details: [""], paths: [0, 0, 0] };
const TILES_KEPT = 600; /* decoded at once */

/* ---- blocks ---- */

function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

/* The element may still be on its way while the page is being read. */
async function elementOf(id) {
	while (!$(id) && document.readyState === "loading")
		await new Promise((done) => setTimeout(done, 10));
	return $(id);
}

/* The bytes of a block, uncompressed; null where the page has none. */
async function blockBytes(id) {
	const element = await elementOf(id);
	if (!element)
		return null;
	const packed = new Blob([fromBase64(element.textContent)]);
	const plain = packed.stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(plain).arrayBuffer());
}

async function loadTables() {
	const bytes = await blockBytes("tables");
	Object.assign(tables, JSON.parse(new TextDecoder().decode(bytes)));
	tables.n = tables.paths.length / 3;
}

const parentOf = (path) => tables.paths[3 * path];
const nameOfPath = (path) => tables.names[tables.paths[3 * path + 1]];
const kindOfPath = (path) => head.kinds[tables.paths[3 * path + 2]];

/* ---- columns ---- */

class Columns {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	number() {
		let value = 0;
		let scale = 1;
		let byte;
		do {
			byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte & 128);
		return value;
	}

	signed() {
		const value = this.number();
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}

	numbers(to) {
		for (let i = 0; i < to.length; i++)
			to[i] = this.number();
		return to;
	}

	/* Differences, added up. */
	running(to) {
		for (let i = 0, sum = 0; i < to.length; i++)
			to[i] = sum += this.signed();
		return to;
	}

	doubles(to) {
		const view = new DataView(this.bytes.buffer, this.bytes.byteOffset);
		for (let i = 0; i < to.length; i++, this.at += 8)
			to[i] = view.getFloat64(this.at, true);
		return to;
	}
}

const COLUMN = { row: 1, corr: 2, caller: 4, detail: 8, merged: 16, bytes: 32, whole: 64 };

function decodeSlices(bytes) {
	const from = new Columns(bytes);
	const columns = from.number();
	const n = from.number();
	const has = (bit, Type) => columns & bit ? from.numbers(new Type(n)) : null;
	const end = from.running(new Float64Array(n));
	const length = from.numbers(new Float64Array(n));
	const start = end.map((ns, i) => ns - length[i]);
	const path = from.numbers(new Uint32Array(n));
	const row = has(COLUMN.row, Uint16Array);
	const corr = columns & COLUMN.corr ? from.running(new Float64Array(n)) : null;
	const caller = has(COLUMN.caller, Uint32Array);
	const detail = has(COLUMN.detail, Uint32Array);
	const nBytes = has(COLUMN.bytes, Float64Array);
	const count = has(COLUMN.merged, Float64Array);
	const busy = has(COLUMN.merged, Float64Array);
	return { n, start, end, path, row, corr, caller, detail, nBytes, count, busy };
}

function decodeValues(bytes) {
	const from = new Columns(bytes);
	const columns = from.number();
	const n = from.number();
	const column = () => columns & COLUMN.whole ? from.running(new Float64Array(n)) : from.doubles(new Float64Array(n));
	const start = from.running(new Float64Array(n));
	const value = column();
	const merged = columns & COLUMN.merged;
	return { n, start, value, min: merged ? column() : value, max: merged ? column() : value };
}

/* ---- tracks ---- */

class Track {
	constructor(facts, number) {
		Object.assign(this, facts);
		this.number = number;
		this.isCounter = this.kind === "counter";
		this.isGpu = ["stream", "queue", "copies"].includes(this.kind);
		for (const level of this.levels) {
			const n = level.tiles.length / 3;
			level.track = this;
			level.start = new Float64Array(n);
			level.end = new Float64Array(n);
			level.size = new Uint32Array(n);
			for (let i = 0; i < n; i++) {
				level.start[i] = level.tiles[3 * i];
				level.end[i] = level.start[i] + level.tiles[3 * i + 1];
				level.size[i] = level.tiles[3 * i + 2];
			}
			level.tiles = null;
			level.nTiles = n;
		}
		/* Those that are in the page; the first has every event, unless it did not fit. */
		this.kept = this.levels.filter((level) => level.block >= 0);
		this.isWhole = this.kept[0] === this.levels[0];
		this.summary = null;
	}

	/* The number of the level (among those kept) whose picture is exact when a pixel lasts @pixelNs. */
	levelFor(pixelNs) {
		let i = 0;
		while (i + 1 < this.kept.length && this.kept[i + 1].resolution <= pixelNs)
			i++;
		return i;
	}
}

const tracks = head.tracks.map((facts, i) => new Track(facts, i));

/* ---- tiles: decoded when they are needed, the latest are kept ---- */

const decoded = new Map(); /* number of the block to its tile, or to a promise of it */

/* A tile if it is there, else null; it is being loaded then, and @later is called with it. */
function tileNow(level, i, later) {
	const block = level.block + i;
	const tile = decoded.get(block);
	if (tile && !tile.then) {
		decoded.delete(block); /* the latest are at the end */
		decoded.set(block, tile);
		return tile;
	}
	loadTile(level, i).then(later);
	return null;
}

function loadTile(level, i) {
	const block = level.block + i;
	let tile = decoded.get(block);
	if (!tile) {
		tile = blockBytes("b" + block).then((bytes) => {
			const made = level.track.isCounter ? decodeValues(bytes) : decodeSlices(bytes);
			decoded.set(block, made);
			for (const key of decoded.keys()) {
				if (decoded.size <= TILES_KEPT)
					break;
				if (!decoded.get(key).then)
					decoded.delete(key);
			}
			return made;
		});
		decoded.set(block, tile);
	}
	return Promise.resolve(tile);
}

/* The tiles of a level that overlap a time. */
function tilesIn(level, from, to) {
	const found = [];
	for (let i = 0; i < level.nTiles; i++)
		if (level.start[i] <= to && level.end[i] >= from)
			found.push(i);
	return found;
}

/* ---- summaries: sums by path of every tile of the first level ---- */

async function summaryOf(track) {
	if (track.summary || track.isCounter)
		return track.summary;
	const bytes = await blockBytes("s" + track.number);
	const from = new Columns(bytes || new Uint8Array());
	const sums = [];
	for (let tile = 0; bytes && tile < track.levels[0].nTiles; tile++) {
		const rows = [];
		for (let n = from.number(); n > 0; n--) {
			const [path, count, sum, min, more] = from.numbers(new Float64Array(5));
			rows.push({ path, count, sum, min, max: min + more });
		}
		sums.push(rows);
	}
	track.summary = sums;
	return sums;
}

/*
 * Count, sum, smallest and largest length by path, of what overlaps a time, and the part of it that is inside
 * (`inside`). Tiles that are inside of it are added from their summaries. `rough`: tiles at the edges are not
 * in this page, and were taken in proportion.
 */
async function sumUp(from, to, wanted) {
	const sums = new Map();
	let rough = false;
	const add = (path, count, sum, min, max, inside) => {
		const at = sums.get(path);
		if (!at) {
			sums.set(path, { path, count, sum, min, max, inside });
			return;
		}
		at.count += count;
		at.sum += sum;
		at.min = Math.min(at.min, min);
		at.max = Math.max(at.max, max);
		at.inside += inside;
	};
	for (const track of tracks.filter(wanted)) {
		const first = track.levels[0];
		const summary = await summaryOf(track);
		for (const i of tilesIn(first, from, to)) {
			if (first.start[i] >= from && first.end[i] <= to) {
				for (const row of summary[i])
					add(row.path, row.count, row.sum, row.min, row.max, row.sum);
			} else if (track.isWhole) {
				const tile = await loadTile(first, i);
				for (let k = 0; k < tile.n; k++) {
					if (tile.start[k] > to || tile.end[k] < from)
						continue;
					const length = tile.end[k] - tile.start[k];
					add(tile.path[k], 1, length, length, length,
						Math.min(tile.end[k], to) - Math.max(tile.start[k], from));
				}
			} else {
				const share = (Math.min(first.end[i], to) - Math.max(first.start[i], from)) /
					(first.end[i] - first.start[i] || 1);
				rough = true;
				for (const row of summary[i])
					add(row.path, row.count * share, row.sum * share, row.min, row.max, row.sum * share);
			}
		}
	}
	return { sums, rough };
}
