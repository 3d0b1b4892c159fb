"""`relstudy hash cross-modal`: codes of two kinds of descriptors that can be compared with one another."""

from __future__ import annotations

import click

from relstudy.analysis.hashing.commands.inputs import vectors_in, write_array
from relstudy.common.console import print_json, say


@click.command("cross-modal")
@click.option("--bits", type=click.IntRange(min=1), required=True, help="Code length.")
@click.option("--train", nargs=2, required=True, help="FIRST.npy SECOND.npy: both descriptors of the same items.")
@click.option("--encode-first", nargs=2, multiple=True, help="VECTORS.npy CODES.npy of the first kind; repeat.")
@click.option("--encode-second", nargs=2, multiple=True, help="The same, of the second kind.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def cross_modal_command(
    bits: int,
    train: tuple[str, str],
    encode_first: tuple[tuple[str, str], ...],
    encode_second: tuple[tuple[str, str], ...],
    as_json: bool,
) -> None:
    """Codes for pictures and texts in one space, by canonical correlation analysis (Kumar and Udupa 2011).

    Count queries of one kind against a database of the other as any codes.

    \b
    Example:
      relstudy hash cross-modal --bits 8 --train train_pictures.npy train_texts.npy \\
          --encode-first train_pictures.npy pictures.npy --encode-second test_texts.npy texts.npy
    """
    from relstudy.analysis.hashing.encoders.cross_modal import CrossModal

    if not encode_first and not encode_second:
        raise click.UsageError("Give --encode-first or --encode-second: what is to be written.")
    encoder = CrossModal(bits).fit(*(vectors_in(file) for file in train))
    written = []
    for files, view in ((encode_first, encoder.first), (encode_second, encoder.second)):
        for source, target in files:
            codes = view.encode(vectors_in(source))
            write_array(target, codes.unpacked())
            written.append({"file": target, "codes": len(codes)})
    correlations = [float(value) for value in encoder.correlations_]
    if as_json:
        print_json({"bits": bits, "canonical_correlations": correlations, "files": written})
        return
    click.echo("canonical correlations: " + ", ".join(f"{value:.3f}" for value in correlations))
    for file in written:
        say(f"{file['codes']} codes of {bits} bits; wrote {file['file']}")
