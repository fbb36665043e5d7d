/* A trace page that is a file: blocks are elements of it; s0, s1, ... are the summaries of each track. */

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

async function packedBlock(id) {
	const element = await elementOf(id);
	return element && fromBase64(element.textContent);
}

/* Sums by path of every tile of the first level. */
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
 * (`inside`): of samples or of everything else. Tiles that are inside of it are added from their summaries. `rough`: tiles
 * at the edges are not in this page, and were taken in proportion.
 */
async function sumUp(from, to, ofSamples) {
	const all = new Sums();
	for (const track of tracks.filter((one) => !one.isCounter && (one.kind === "samples") === ofSamples)) {
		const first = track.levels[0];
		const summary = await summaryOf(track);
		for (const i of tilesIn(first, from, to)) {
			if (first.start[i] >= from && first.end[i] <= to) {
				for (const row of summary[i])
					all.add(row.path, row.count, row.sum, row.min, row.max, row.sum);
			} else if (track.isWhole) {
				const tile = await loadTile(first, i);
				for (let k = 0; k < tile.n; k++) {
					if (tile.start[k] > to || tile.end[k] < from)
						continue;
					const length = tile.end[k] - tile.start[k];
					all.add(tile.path[k], 1, length, length, length,
						Math.min(tile.end[k], to) - Math.max(tile.start[k], from));
				}
			} else {
				const share = (Math.min(first.end[i], to) - Math.max(first.start[i], from)) /
					(first.end[i] - first.start[i] || 1);
				all.rough = true;
				for (const row of summary[i])
					all.add(row.path, row.count * share, row.sum * share, row.min, row.max, row.sum * share);
			}
		}
	}
	return all;
}

/* Of the tiles of a track from number @i on, in direction @step, the first that the search finds something in; or -1. */
async function tileWithMatch(track, i, step) {
	const summary = await summaryOf(track);
	for (; i >= 0 && i < summary.length; i += step)
		if (summary[i].some((row) => foundPaths[row.path]))
			return i;
	return -1;
}

/* What stands for a tile whose events are not in the page: the time that they are in. */
async function matchInSummary(track, i) {
	const row = (await summaryOf(track))[i].find((one) => foundPaths[one.path]);
	const { start, end } = track.levels[0];
	return { track, start: start[i], end: end[i], path: row.path, row: 0, corr: 0, caller: 0, detail: 0, nBytes: 0,
		count: row.count, busy: row.sum, isExact: false };
}
