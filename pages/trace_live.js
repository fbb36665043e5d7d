/*
 * A trace page from a server, which has every event: tiles are requested when they come into view, sums are made there.
 * docs/formats/live.md has the requests.
 */
const BLOCKS_AT_ONCE = 64; /* of one request: SRV_BLOCKS_MAX */
const REQUESTS_AT_ONCE = 3;
const NAMES_LENGTH = 8000; /* of an address; with more names than fit, the tiles themselves are searched */

async function ask(what, words) {
	let answer;
	try {
		answer = await fetch(what + (words ? "?" + new URLSearchParams(words) : ""), { cache: "no-store" });
	} catch (error) {
		say("The server does not answer: start the command again and open the new address.");
		throw error;
	}
	if (!answer.ok) {
		const text = await answer.text();
		say(text);
		throw new Error(text);
	}
	return new Uint8Array(await answer.arrayBuffer());
}

function say(text) {
	$("notes").hidden = false;
	$("notes").textContent = text;
}

/* ---- tiles: those that are wanted at the same time are one request, the latest first ---- */

const wanted = new Map(); /* number of a block to those who wait for it */
let nRequests = 0;
let isPlanned = false;

async function requestBlocks() {
	const numbers = [...wanted.keys()].slice(-BLOCKS_AT_ONCE).sort((a, b) => a - b);
	const waiting = numbers.map((number) => wanted.get(number));
	numbers.forEach((number) => wanted.delete(number));
	nRequests++;
	try {
		const bytes = await ask("tiles", { blocks: rangesText(numbers) });
		const view = new DataView(bytes.buffer);
		let at = 0;
		for (const { done } of waiting) {
			const length = view.getUint32(at, true);
			done(bytes.subarray(at + 4, at + 4 + length));
			at += 4 + length;
		}
	} catch (error) {
		waiting.forEach(({ failed }) => failed(error));
	}
	nRequests--;
	planRequests();
}

function planRequests() {
	if (isPlanned)
		return;
	isPlanned = true;
	setTimeout(() => {
		isPlanned = false;
		while (wanted.size && nRequests < REQUESTS_AT_ONCE)
			requestBlocks();
	});
}

function packedBlock(id) {
	if (!id.startsWith("b"))
		return ask(id);
	return new Promise((done, failed) => {
		wanted.set(Number(id.slice(1)), { done, failed });
		planRequests();
	});
}

/* ---- sums and search ---- */

/* Count, sum, smallest and largest length by path, of what overlaps a time, and the part of it that is inside. */
async function sumUp(from, to, ofSamples) {
	const all = new Sums();
	const exact = (ns) => Math.min(Math.max(Math.round(ns), 0), Number.MAX_SAFE_INTEGER);
	const rows = new Columns(await unpack(await ask("sums", { from: exact(from), to: exact(to), samples: ofSamples ? 1 : 0 })));
	for (let n = rows.number(); n > 0; n--)
		all.add(...rows.numbers(new Float64Array(6)));
	return all;
}

const namesOfSearch = new WeakMap(); /* foundPaths to the list of their names */

function namesText() {
	let text = namesOfSearch.get(foundPaths);
	if (text === undefined) {
		const names = new Set();
		for (let path = 1; path < tables.n; path++)
			if (foundPaths[path])
				names.add(tables.paths[3 * path + 1]);
		text = rangesText([...names].sort((a, b) => a - b));
		namesOfSearch.set(foundPaths, text);
	}
	return text;
}

/* Of the tiles of a track from number @i on, in direction @step, the first that may have what the search finds; or -1. */
async function tileWithMatch(track, i, step) {
	const text = namesText();
	if (i < 0 || i >= track.levels[0].nTiles || !text)
		return -1;
	if (text.length > NAMES_LENGTH)
		return i;
	const bytes = await ask("find", { track: track.number, tile: i, step: step > 0 ? "up" : "down", names: text });
	const [found] = JSON.parse(new TextDecoder().decode(bytes));
	return found ?? -1;
}
