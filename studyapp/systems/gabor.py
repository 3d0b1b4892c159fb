"""A bank of real, circular Gabor filters (Shirahatti and Barnard 2005, Eq. 3.5): 3 scales, 4 orientations."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.fft as fft

FREQUENCIES = (0.25, 0.125, 0.0625)
ORIENTATIONS = 4
FILTERS = len(FREQUENCIES) * ORIENTATIONS
# half-amplitude bandwidth of one octave: sigma * frequency = 3 sqrt(2 ln 2) / (2 pi)
SIGMA_TIMES_FREQUENCY = 3 * np.sqrt(2 * np.log(2)) / (2 * np.pi)
MARGIN = 24


def gabor_energy(luminance: np.ndarray) -> np.ndarray:
    """Squared response of each filter at each pixel.

    The printed Eq. 3.5 has cos twice where the second must be sin for the filter to be oriented. A Gaussian is taken
    off each filter so that it does not respond to plain brightness.

    Parameters
    ----------
    luminance : float [height, width]

    Returns
    -------
    float32 [12, height, width]; scale by scale, orientations 0, 45, 90, 135 degrees

    Examples
    --------
    >>> flat = gabor_energy(np.full((32, 32), 0.7))
    >>> bool(flat.max() < 1e-6)
    True
    """
    padded = np.pad(luminance.astype(np.float32), MARGIN, mode="symmetric")
    spectrum = fft.rfft2(padded)
    responses = fft.irfft2(spectrum[None] * _transfer(*padded.shape), s=padded.shape)
    return np.square(responses[:, MARGIN:-MARGIN, MARGIN:-MARGIN])


@lru_cache(maxsize=8)
def _transfer(height: int, width: int) -> np.ndarray:
    across = np.fft.rfftfreq(width)[None, :]
    down = np.fft.fftfreq(height)[:, None]
    filters = []
    for frequency in FREQUENCIES:
        spread = 2 * (np.pi * SIGMA_TIMES_FREQUENCY / frequency) ** 2
        for step in range(ORIENTATIONS):
            angle = np.pi * step / ORIENTATIONS
            u, v = frequency * np.cos(angle), frequency * np.sin(angle)
            lobes = 0.5 * sum(np.exp(-spread * ((across - s * u) ** 2 + (down - s * v) ** 2)) for s in (1, -1))
            plain = np.exp(-spread * (across**2 + down**2))
            filters.append(lobes - np.exp(-spread * frequency**2) * plain)
    return np.asarray(filters, dtype=np.float32)


def luminance_of(rgb: np.ndarray) -> np.ndarray:
    """Luminance, 0 to 1 (Rec. 601), float32 [height, width], of uint8 pixels."""
    return (rgb @ np.array([0.299, 0.587, 0.114], dtype=np.float32)) / np.float32(255)
