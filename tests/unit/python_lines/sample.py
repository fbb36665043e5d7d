# Compiled, never run: code whose line tables have entries of all kinds.
import asyncio
from functools import (
    partial,
)


def short(a, b): return a + b


@partial(
    short,
    1,
)
def decorated(
    first,
    second=2,
):
    """The body begins lines after the code object."""

    total = first

    total += short(
        second,
        short(1,
              2),
    ) + short(3, 4)
    return (
        total
        +
        second
    )


def backwards(n):
    while n:
        try:
            n = [
                x
                for x in range(n)
                if x
                > 3
            ][
                -1
            ]
        except (
            IndexError,
            KeyError,
        ) as error:
            raise ValueError(
                error
            ) from error
        finally:
            n -= 1
    else:
        n = {k: v for k, v in
             zip((1, 2), (3, 4))}
    return n


def wide(a):
    # columns beyond what a short entry holds
    return                                                                                          a.b(a.c, a.d,                                 a.e)


def many(a):
    a = a + 1 + a + 2 + a + 3 + a + 4 + a + 5 + a + 6 + a + 7 + a + 8 + a + 9 + a + 10 + a + 11 + a + 12 + a * 2 + a * 3 + a * 4 + a * 5 + a * 6 + a * 7 + a * 8 + a * 9 + a.x + a.y + a.z + a.x.y + a.x.z + a.y.z + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7] + a[8] + a[9] + a[10] + a(1, 2, 3) + a(4, 5, 6) + a(7, 8, 9) + (a if a else -a) + (a or 3) + (a and 4) + a ** 2 + a // 3 + a % 4 - a / 5








































































































































    return a    # far below, beyond what one signed byte holds


async def waiting(lock):
    async with lock:
        async for item in lock:
            await asyncio.sleep(
                0
            )
            yield item


class Model:
    scale = 2

    def forward(self, x):
        return (lambda y:
                y * self.scale)(x)


if __name__ == "__main__":
    decorated(1)
