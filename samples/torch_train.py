#!/usr/bin/env python3
"""A small PyTorch network whose layers run on a GPU through HIP kernels of its own.

Debian's PyTorch has no GPU support, so a tensor class of this file sends `linear` and `relu`
to libtorch_kernels.so beside it; everything else is PyTorch's own. The result is compared
with what PyTorch computes on the CPU.

    rocprof-compute --experimental profile -n torch --torch-trace -- python torch_train.py
"""
import argparse
import ctypes
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

_here = os.path.dirname(os.path.abspath(__file__))


def _pointer(tensor):
    return ctypes.cast(tensor.data_ptr(), ctypes.POINTER(ctypes.c_float))


class GpuTensor(torch.Tensor):
    """A tensor whose linear layers and activations are computed by HIP kernels."""

    kernels = None

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is F.linear:
            return cls._linear(*args, **(kwargs or {}))
        if function is F.relu:
            return cls._relu(args[0])
        return super().__torch_function__(function, types, args, kwargs)

    @classmethod
    def _linear(cls, x, weight, bias=None):
        with torch._C.DisableTorchFunction():
            x, w = x.detach().contiguous(), weight.detach().contiguous()
            n, n_out = x.shape[0], w.shape[0]
            b = torch.zeros(n_out) if bias is None else bias.detach().contiguous()
            y = torch.empty(n, n_out)
            cls.kernels.gpu_linear(_pointer(x), _pointer(w), _pointer(b), _pointer(y),
                                   x.shape[1], n_out, n)
            return y.as_subclass(cls)

    @classmethod
    def _relu(cls, x):
        with torch._C.DisableTorchFunction():
            x = x.detach().contiguous()
            y = torch.empty_like(x)
            cls.kernels.gpu_relu(_pointer(x), _pointer(y), x.numel())
            return y.as_subclass(cls)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(32, 64)
        self.activation = nn.ReLU()
        self.decoder = nn.Linear(64, 8)

    def forward(self, x):
        x = self.activation(self.encoder(x))
        return F.relu(self.decoder(x))


def main():
    parser = argparse.ArgumentParser(description="a network on the GPU, compared with the CPU")
    parser.add_argument("-n", type=int, default=16, help="rows of a batch")
    parser.add_argument("-i", type=int, default=2, help="batches")
    parser.add_argument("--kernels", default=os.path.join(_here, "libtorch_kernels.so"))
    args = parser.parse_args()
    GpuTensor.kernels = ctypes.CDLL(args.kernels)
    torch.manual_seed(1)
    net = Net()
    with torch.no_grad():
        for _ in range(args.i):
            batch = torch.randn(args.n, 32)
            got = net(batch.as_subclass(GpuTensor)).as_subclass(torch.Tensor)
            if not torch.allclose(got, net(batch), atol=1e-4):
                print("FAIL")
                return 1
    print("PASS")
    return 0


if __name__ == "__main__":
    sys.exit(main())
