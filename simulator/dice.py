"""Chance that can be repeated: the same seed and the same words give the same draws."""

import hashlib
import math
import random


def dice(*parts: object) -> random.Random:
    """A digest rather than `hash()`, which Python salts anew in every process."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode(errors="surrogatepass")).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311  repeatable on purpose


def latency_s(chance: random.Random, median_s: float) -> float:
    """Log-normal, as answer times are: most near the median, a long tail of slow ones."""
    return min(40.0, max(2.0, median_s * math.exp(chance.gauss(0.0, 0.5))))


def digest(text: str, length: int = 8) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:length]
