"""`relstudy hash cross-modal`: codes of two kinds of descriptors that can be compared with one another."""

from __future__ import annotations

from dataclasses import dataclass

import click

from relstudy.analysis.hashing.commands.inputs import refuse_over, vectors_in, write_array
from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.console import print_json, say


@dataclass(frozen=True, kw_only=True)
class CrossModalOptions(CommandOptions):
    """Options of `relstudy hash cross-modal`."""

    bits: int = option(..., "Code length.", at_least=1)
    train: tuple[str, str] = option(..., "Both descriptors of the same items.", metavar="FIRST.npy SECOND.npy")
    encode_first: tuple[tuple[str, str], ...] = option(
        (), "Vectors of the first kind, and where to write their codes; repeat.", metavar="VECTORS.npy CODES.npy"
    )
    encode_second: tuple[tuple[str, str], ...] = option(
        (), "The same, of the second kind.", metavar="VECTORS.npy CODES.npy"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.encode_first and not self.encode_second:
            raise click.UsageError("Give --encode-first or --encode-second: what is to be written.")


@click.command("cross-modal")
@taking(CrossModalOptions)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def cross_modal_command(options: CrossModalOptions, as_json: bool) -> None:
    """Codes for pictures and texts in one space, by canonical correlation analysis (Kumar and Udupa 2011).

    Count queries of one kind against a database of the other as any codes.

    \b
    Example:
      relstudy hash cross-modal --bits 8 --train train_pictures.npy train_texts.npy \\
          --encode-first train_pictures.npy pictures.npy --encode-second test_texts.npy texts.npy
    """
    from relstudy.analysis.hashing.encoders.cross_modal import CrossModal

    pairs = (*options.encode_first, *options.encode_second)
    refuse_over([to for _, to in pairs], [*(source for source, _ in pairs), *options.train])
    first, second = (vectors_in(file) for file in options.train)
    encoder = CrossModal(options.bits).fit(first, second)
    written = []
    for files, view in ((options.encode_first, encoder.first), (options.encode_second, encoder.second)):
        for source, target in files:
            codes = view.encode(vectors_in(source))
            write_array(target, codes.unpacked())
            written.append({"file": target, "codes": len(codes)})
    correlations = [float(value) for value in encoder.correlations_]
    if as_json:
        print_json({"bits": options.bits, "canonical_correlations": correlations, "files": written})
        return
    click.echo("canonical correlations: " + ", ".join(f"{value:.3f}" for value in correlations))
    for file in written:
        say(f"{file['codes']} codes of {options.bits} bits; wrote {file['file']}")
