"""The console script `xbcast`: is it installed, does it work, how fast is it here?

Prints what runs, corrects an image by two broadcasts that are compared with
NumPy's answer, and times some calls beside NumPy. The exit status is 1 if a
result is wrong.
"""

import argparse
import struct
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

import xbcast
from xbcast._core import cpu_level, cpu_levels


def render(height=480, width=640):
    """An RGB picture with a yellow cast and dark corners, as uint8: (height, width, 3)."""
    y, x = np.mgrid[-1.2 : 1.2 : height * 1j, -2.2 : 1.0 : width * 1j]
    c = x + 1j * y
    z = np.zeros_like(c)
    escaped_at = np.zeros(c.shape)
    for step in range(1, 60):
        inside = np.abs(z) < 4
        z[inside] = z[inside] ** 2 + c[inside]
        escaped_at[inside] = step
    tone = np.log2(escaped_at)[:, :, None]
    colours = 0.55 + 0.4 * np.cos(2 * np.pi * (tone / 4 + np.array([0.45, 0.6, 0.75])))
    cast = np.array([1.0, 0.9, 0.55])
    return (255 * colours * cast * falloff(height, width)[:, :, None]).astype(np.uint8)


def falloff(height, width):
    """How much light the lens lets through at each pixel: (height, width)."""
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    return (1 - 0.25 * (x**2 + y**2)).astype(np.float32)


def write_png(path, image):
    """Write a uint8 array (height, width, 3) as a PNG file."""
    height, width, _ = image.shape
    # Each row of a PNG begins with the number of its filter; 0 is none.
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = image.reshape(height, 3 * width)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes())),
        (b"IEND", b""),
    )
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, data in chunks:
            file.write(struct.pack(">I", len(data)) + kind + data)
            file.write(struct.pack(">I", zlib.crc32(kind + data)))


def show_versions():
    levels = ", ".join(cpu_levels())
    print(f"xbcast {xbcast.__version__}, NumPy {np.__version__}")
    print(f"CPU level {cpu_level()} (usable here: {levels}), threads: {xbcast.get_num_threads()}")


def correct_image():
    """The worked example. True if xbcast and NumPy agree."""
    image = render()
    light = falloff(*image.shape[:2])
    even = xbcast.divide(image, light, broadcast_dimensions=(0, 1))
    means = even.mean(axis=(0, 1))
    gains = means.mean() / means
    balanced = xbcast.multiply(even, gains, broadcast_dimensions=(2,))
    expected = image / light[:, :, None] * gains
    result = np.clip(balanced, 0, 255).astype(np.uint8)

    folder = Path(tempfile.mkdtemp(prefix="xbcast-"))
    write_png(folder / "before.png", image)
    write_png(folder / "after.png", result)

    def means_of(picture):
        return "  ".join(f"{mean:6.1f}" for mean in picture.mean(axis=(0, 1)))

    def corner_of(picture):
        return f"{picture[:20, :20].mean():6.1f}"

    print(f"""
An image with a colour cast and dark corners, corrected by two broadcasts

  image  {image.shape} {image.dtype}
  light  {light.shape} {light.dtype}, one value for each pixel
  gains  {gains.shape} {gains.dtype}, one value for each channel

  even     = xbcast.divide(image, light, broadcast_dimensions=(0, 1))
  balanced = xbcast.multiply(even, gains, broadcast_dimensions=(2,))

  mean of red, green, blue   before  {means_of(image)}
                             after   {means_of(balanced)}
  mean of the upper left     before  {corner_of(image)}
                             after   {corner_of(balanced)}

  written to {folder}: before.png, after.png""")

    try:
        xbcast.multiply(even, gains)
    except xbcast.BroadcastError as error:
        refused = True
        print(f"\n  Nothing is guessed. Without broadcast_dimensions:\n  BroadcastError: {error}")
    else:
        refused = False
    if not (refused and np.array_equal(balanced, expected)):
        print("xbcast: this is not NumPy's answer", file=sys.stderr)
        return False
    return True


def main(argv=None):
    """Run the demonstration; the exit status."""
    parser = argparse.ArgumentParser(prog="xbcast", description=__doc__)
    parser.add_argument("--version", action="version", version=f"xbcast {xbcast.__version__}")
    parser.parse_args(argv)
    show_versions()
    if not correct_image():
        return 1
    print("\nTimes of one call, xbcast beside NumPy (ratio below 1: xbcast is faster)\n")
    xbcast.bench()
    return 0


if __name__ == "__main__":
    sys.exit(main())
