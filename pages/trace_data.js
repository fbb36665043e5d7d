/*
 * What the page knows: #head has tracks and the times of their tiles, the block "tables" the names, blocks b0, b1, ...
 * the tiles. timeline/README.md has their layout.
 */
const head = JSON.parse($("head").textContent);
const tables = { names: [""], details: [""], paths: [0, 0, 0] };
const TILES_KEPT = 600; /* decoded at once */

/* ---- blocks: packedBlock() gets them from the page (trace_stored.js) or from a server (trace_live.js) ---- */

async function unpack(packed) {
	const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(plain).arrayBuffer());
}

/* The bytes of a block, uncompressed; null where there is none. */
async function blockBytes(id) {
	const packed = await packedBlock(id);
	return packed && unpack(packed);
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
	loadTile(level, i).then(later, () => {}); /* whoever could not get it has said so */
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
		}).catch((error) => {
			decoded.delete(block);
			throw error;
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

/* ---- sums: sumUp() is in trace_stored.js and trace_live.js, too ---- */

/* Rows of sums by path that are added up. */
class Sums {
	constructor() {
		this.sums = new Map();
		this.rough = false; /* parts of it were estimated */
	}

	add(path, count, sum, min, max, inside) {
		const at = this.sums.get(path);
		if (!at) {
			this.sums.set(path, { path, count, sum, min, max, inside });
			return;
		}
		at.count += count;
		at.sum += sum;
		at.min = Math.min(at.min, min);
		at.max = Math.max(at.max, max);
		at.inside += inside;
	}
}

let counted = null;

/* The events of each path in the whole trace, samples too. */
function countsByPath() {
	counted ||= Promise.all([sumUp(0, whole.to, false), sumUp(0, whole.to, true)]).then((both) => {
		const counts = new Float64Array(tables.n);
		for (const { sums: rows } of both)
			for (const { path, count } of rows.values())
				counts[path] += count;
		return counts;
	});
	return counted;
}
