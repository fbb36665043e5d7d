#!/usr/bin/env python3
"""Writes a small language model with random weights: a llama in GGUF, for runs that compare back ends.

    tiny_gguf.py FILE [--seed N] [--layers N]

The same seed gives the same file, byte for byte. Text of the model is made of the words below: the rows of
the output matrix that belong to control and byte tokens are zero, so that a word is always more likely.
"""
import argparse
import random
import struct

WIDTH = 256        # rows of 256 values: every quantization of llama-quantize applies
HEADS = 4
HEADS_KV = 2       # grouped-query attention, as current models have it
FEED_FORWARD = 512
CONTEXT = 256
ONSETS = 'bdfgklmnprstvz'
# A tokenizer merges neighbours whose union is a token, so each word grows letter by letter from its onset.
WORDS = list(ONSETS) + [onset + vowel + coda for onset in ONSETS for vowel in 'aeiou' for coda in ('', 'n', 'r')]

U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9   # types of metadata
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6             # types of tokens
TENSOR_F32, TENSOR_F16 = 0, 1
ALIGNMENT = 32


def text(value):
    data = value.encode()
    return struct.pack('<Q', len(data)) + data


def scalar(kind, value):
    if kind == STRING:
        return text(value)
    return struct.pack({U32: '<I', I32: '<i', F32: '<f', BOOL: '<?'}[kind], value)


def entry(key, kind, value):
    return text(key) + struct.pack('<I', kind) + scalar(kind, value)


def array(key, kind, values):
    head = text(key) + struct.pack('<IIQ', ARRAY, kind, len(values))
    return head + b''.join(scalar(kind, value) for value in values)


def vocabulary():
    """(text, score, type) of each token; a word begins with the mark of a space."""
    yield '<unk>', 0.0, UNKNOWN
    yield '<s>', 0.0, CONTROL
    yield '</s>', 0.0, CONTROL
    for byte in range(256):
        yield f'<0x{byte:02X}>', 0.0, BYTE
    for n, word in enumerate(WORDS):
        yield '\u2581' + word, -float(n), NORMAL


def metadata(tokens, layers):
    head_width = WIDTH // HEADS
    return [
        entry('general.architecture', STRING, 'llama'),
        entry('general.name', STRING, 'random weights'),
        entry('general.file_type', U32, 1),
        entry('llama.context_length', U32, CONTEXT),
        entry('llama.embedding_length', U32, WIDTH),
        entry('llama.block_count', U32, layers),
        entry('llama.feed_forward_length', U32, FEED_FORWARD),
        entry('llama.attention.head_count', U32, HEADS),
        entry('llama.attention.head_count_kv', U32, HEADS_KV),
        entry('llama.attention.layer_norm_rms_epsilon', F32, 1e-5),
        entry('llama.rope.dimension_count', U32, head_width),
        entry('llama.vocab_size', U32, len(tokens)),
        entry('tokenizer.ggml.model', STRING, 'llama'),
        array('tokenizer.ggml.tokens', STRING, [token[0] for token in tokens]),
        array('tokenizer.ggml.scores', F32, [token[1] for token in tokens]),
        array('tokenizer.ggml.token_type', I32, [token[2] for token in tokens]),
        entry('tokenizer.ggml.unknown_token_id', U32, 0),
        entry('tokenizer.ggml.bos_token_id', U32, 1),
        entry('tokenizer.ggml.eos_token_id', U32, 2),
        entry('tokenizer.ggml.add_bos_token', BOOL, True),
    ]


def tensors(tokens, layers, rng):
    """(name, shape with the row length first, type, bytes)"""
    def matrix(name, columns, rows, zero_rows=0):
        deviation = columns ** -0.5
        data = bytes(2 * columns * zero_rows)
        values = [rng.gauss(0, deviation) for _ in range(columns * (rows - zero_rows))]
        return name, (columns, rows), TENSOR_F16, data + struct.pack(f'<{len(values)}e', *values)

    def norm(name):
        values = [1 + rng.gauss(0, 0.1) for _ in range(WIDTH)]
        return name, (WIDTH,), TENSOR_F32, struct.pack(f'<{WIDTH}f', *values)

    no_words = sum(token[2] != NORMAL for token in tokens)
    kv_width = WIDTH // HEADS * HEADS_KV
    yield matrix('token_embd.weight', WIDTH, len(tokens))
    for layer in range(layers):
        block = f'blk.{layer}.'
        yield norm(block + 'attn_norm.weight')
        yield matrix(block + 'attn_q.weight', WIDTH, WIDTH)
        yield matrix(block + 'attn_k.weight', WIDTH, kv_width)
        yield matrix(block + 'attn_v.weight', WIDTH, kv_width)
        yield matrix(block + 'attn_output.weight', WIDTH, WIDTH)
        yield norm(block + 'ffn_norm.weight')
        yield matrix(block + 'ffn_gate.weight', WIDTH, FEED_FORWARD)
        yield matrix(block + 'ffn_up.weight', WIDTH, FEED_FORWARD)
        yield matrix(block + 'ffn_down.weight', FEED_FORWARD, WIDTH)
    yield norm('output_norm.weight')
    yield matrix('output.weight', WIDTH, len(tokens), no_words)


def padded(data):
    return data + bytes(-len(data) % ALIGNMENT)


def main():
    parser = argparse.ArgumentParser(description='writes a small llama with random weights')
    parser.add_argument('file')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--layers', type=int, default=2)
    args = parser.parse_args()

    tokens = list(vocabulary())
    entries = metadata(tokens, args.layers)
    weights = list(tensors(tokens, args.layers, random.Random(args.seed)))
    head = b'GGUF' + struct.pack('<IQQ', 3, len(weights), len(entries)) + b''.join(entries)
    data = b''
    for name, shape, kind, values in weights:
        head += text(name) + struct.pack(f'<I{len(shape)}QIQ', len(shape), *shape, kind, len(data))
        data += padded(values)
    with open(args.file, 'wb') as out:
        out.write(padded(head) + data)


main()
