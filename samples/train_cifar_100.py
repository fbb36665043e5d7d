#!/usr/bin/env python3
"""Trains a small network on images shaped like CIFAR-100's; one layer runs on the GPU.

    rocprof-sys-run --profile --trace -- python3 train_cifar_100.py --data-path data

The images are in CIFAR-100's binary format. Where DATA_PATH has none, they are generated: a
hundred classes, each a pattern with noise. Debian's PyTorch has no GPU support, so the first
linear layer computes its forward and backward pass with HIP kernels of liblinear_layer.so beside
this file; the rest is PyTorch's own. Without PyTorch, numpy does what it would do, with a simpler
network.

Prints the loss of each epoch. Exits with 0 when the GPU's first results agree with the CPU's and
the loss has fallen.
"""
import argparse
import ctypes
import os
import sys
import time

try:
    import numpy as np
except ImportError:
    sys.exit("train_cifar_100: numpy is missing: install python3-numpy, and python3-torch for PyTorch")
try:
    import torch
except ImportError:
    torch = None

SIDE, CHANNELS, CLASSES = 32, 3, 100
IMAGE_BYTES = SIDE * SIDE * CHANNELS
ROW_BYTES = 2 + IMAGE_BYTES  # coarse label, fine label, image

_here = os.path.dirname(os.path.abspath(__file__))


def generate(path, n_images):
    """Writes images of random classes; every class is a pattern of its own plus noise."""
    rng = np.random.default_rng(100)
    patterns = rng.integers(0, 256, (CLASSES, CHANNELS, 8, 8)).repeat(4, axis=2).repeat(4, axis=3)
    labels = rng.integers(0, CLASSES, n_images)
    noise = rng.normal(0, 40, (n_images, CHANNELS, SIDE, SIDE))
    rows = np.empty((n_images, ROW_BYTES), np.uint8)
    rows[:, 0] = labels // 5
    rows[:, 1] = labels
    rows[:, 2:] = np.clip(patterns[labels] + noise, 0, 255).reshape(n_images, -1)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".partial", "wb") as out:
        out.write(rows.tobytes())
    os.replace(path + ".partial", path)
    print(f"train_cifar_100: generated {n_images} images in {path}")


def load(folder, n_images):
    path = os.path.join(folder, "cifar-100-binary", "train.bin")
    if not os.path.exists(path):
        generate(path, n_images)
    rows = np.fromfile(path, np.uint8)
    if rows.size == 0 or rows.size % ROW_BYTES:
        sys.exit(f"train_cifar_100: {path} is not in CIFAR-100's binary format: remove it to have "
                 "images generated")
    rows = rows.reshape(-1, ROW_BYTES)[:n_images]
    images = rows[:, 2:].reshape(-1, CHANNELS, SIDE, SIDE).astype(np.float32) / 127.5 - 1
    return images, rows[:, 1].astype(np.int64)


class GpuLayer:
    """The functions of liblinear_layer.so on numpy arrays."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def forward(self, x, w, b):
        y = np.empty((x.shape[0], w.shape[0]), np.float32)
        self._call("layer_forward", (x, w, b, y), x, w)
        return y

    def backward(self, dy, x, w):
        dx, dw = np.empty_like(x), np.empty_like(w)
        db = np.empty(w.shape[0], np.float32)
        self._call("layer_backward", (dy, x, w, dx, dw, db), x, w)
        return dx, dw, db

    def _call(self, name, arrays, x, w):
        pointers = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for a in arrays]
        getattr(self.library, name)(*pointers, w.shape[1], w.shape[0], x.shape[0])


def agrees(gpu):
    """Whether the GPU computes what numpy computes."""
    rng = np.random.default_rng(1)
    x, w, dy = (rng.normal(size=s).astype(np.float32) for s in ((5, 48), (16, 48), (5, 16)))
    b = rng.normal(size=16).astype(np.float32)
    dx, dw, db = gpu.backward(dy, x, w)
    return all(np.allclose(got, want, atol=1e-3) for got, want in (
        (gpu.forward(x, w, b), x @ w.T + b), (dx, dy @ w), (dw, dy.T @ x), (db, dy.sum(0))))


def torch_trainer(gpu, rate):
    """A step of a network in PyTorch: images and labels in, loss out."""

    class GpuLinear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w, b):
            ctx.save_for_backward(x, w)
            arrays = (np.ascontiguousarray(t.detach().numpy()) for t in (x, w, b))
            return torch.from_numpy(gpu.forward(*arrays))

        @staticmethod
        def backward(ctx, dy):
            arrays = (np.ascontiguousarray(t.detach().numpy()) for t in (dy, *ctx.saved_tensors))
            return tuple(torch.from_numpy(a) for a in gpu.backward(*arrays))

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.features = torch.nn.Conv2d(CHANNELS, 16, 4, stride=4)
            self.hidden = torch.nn.Linear(16 * 8 * 8, 64)
            self.classifier = torch.nn.Linear(64, CLASSES)

        def forward(self, images):
            x = torch.relu(self.features(images)).flatten(1)
            x = torch.relu(GpuLinear.apply(x, self.hidden.weight, self.hidden.bias))
            return self.classifier(x)

    torch.manual_seed(1)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=rate)

    def train_step(images, labels):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(torch.from_numpy(images)),
                                                 torch.from_numpy(labels))
        loss.backward()
        optimizer.step()
        return loss.item()

    return train_step


def numpy_trainer(gpu, rate):
    """The same in numpy, without the convolution."""
    rng = np.random.default_rng(1)
    n_in = CHANNELS * 8 * 8
    w1, w2 = (rng.normal(0, 0.1, s).astype(np.float32) for s in ((64, n_in), (CLASSES, 64)))
    b1, b2 = np.zeros(64, np.float32), np.zeros(CLASSES, np.float32)
    state = [w1, b1, w2, b2]

    def train_step(images, labels):
        w1, b1, w2, b2 = state
        n = len(labels)
        x = images.reshape(n, CHANNELS, 8, 4, 8, 4).mean(axis=(3, 5)).reshape(n, -1)
        x = np.ascontiguousarray(x)
        hidden = np.maximum(gpu.forward(x, w1, b1), 0)
        logits = hidden @ w2.T + b2
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        share = shifted / shifted.sum(axis=1, keepdims=True)
        loss = -np.log(share[np.arange(n), labels] + 1e-12).mean()
        share[np.arange(n), labels] -= 1
        d_logits = share / n
        d_hidden = np.ascontiguousarray((d_logits @ w2) * (hidden > 0), np.float32)
        _, d_w1, d_b1 = gpu.backward(d_hidden, x, w1)
        for value, step in zip(state, (d_w1, d_b1, d_logits.T @ hidden, d_logits.sum(0))):
            value -= 100 * rate * step
        return float(loss)

    return train_step


def train_epoch(train_step, images, labels, batch):
    losses = [train_step(images[at:at + batch], labels[at:at + batch])
              for at in range(0, len(labels), batch)]
    return sum(losses) / len(losses)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-path", default="data", help="folder of the images")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--images", type=int, default=1024, help="how many are used")
    parser.add_argument("--learning-rate", type=float, default=0.002)
    parser.add_argument("--layer", default=os.path.join(_here, "liblinear_layer.so"),
                        help="library with the GPU's layer")
    args = parser.parse_args()
    images, labels = load(args.data_path, args.images)
    gpu = GpuLayer(args.layer)
    if not agrees(gpu):
        sys.exit("train_cifar_100: FAIL: the GPU computes something else than the CPU")
    if torch is None:
        print("train_cifar_100: PyTorch is not installed: numpy takes its place")
    train_step = (torch_trainer if torch else numpy_trainer)(gpu, args.learning_rate)
    losses = []
    for epoch in range(args.epochs):
        start = time.perf_counter()
        losses.append(train_epoch(train_step, images, labels, args.batch_size))
        print(f"epoch {epoch + 1}/{args.epochs}: loss {losses[-1]:.3f}, "
              f"{len(labels) / (time.perf_counter() - start):.0f} images/s", flush=True)
    if len(losses) > 1 and losses[-1] >= losses[0]:
        sys.exit("train_cifar_100: FAIL: the loss did not fall")
    print("PASS")


if __name__ == "__main__":
    main()
