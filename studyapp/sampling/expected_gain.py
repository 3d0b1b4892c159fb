"""rounds/round-N.json: what a round that a judge shaped is to gain, for the admin page of the running study."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json, write_json


@dataclass(frozen=True)
class Widths:
    """Widths of a system's 95 % interval with the judge's help: now, and to expect with as many pairs drawn as in the
    round before, and with those of this round; None if there is no interval."""

    system: str
    now: float | None
    as_before: float | None
    expected: float | None


@dataclass(frozen=True)
class ExpectedGain:
    """The expected gain of a round that a judge shaped, as printed when it was drawn.

    Parameters
    ----------
    round, judge, aim, new_pairs : its number, by whose grades it was shaped, for which index, and its size
    widths : of the index aimed at, by system
    """

    round: int
    judge: str
    aim: str
    new_pairs: int
    widths: tuple[Widths, ...]

    def write(self, folder: Path) -> None:
        """Write it beside the sizes of the round."""
        write_json(asdict(self), gain_file(folder, self.round))

    @classmethod
    def of_last_round(cls, folder: Path) -> ExpectedGain | None:
        """That of the last round of the study in `folder`; None where no judge shaped it.

        Raises
        ------
        RelstudyError
            where design.json or the round's file is damaged
        """
        design = folder / "design.json"
        try:
            number = len(read_json(design)["rounds"]) if design.is_file() else 1
            path = gain_file(folder, number)
            if not path.is_file():
                return None
            content = read_json(path)
            return cls(**{**content, "widths": tuple(Widths(**each) for each in content["widths"])})
        except (TypeError, KeyError):
            raise RelstudyError(
                f"{folder / 'rounds'}: the last round's file is not what relstudy sample wrote"
            ) from None


def gain_file(folder: Path, number: int) -> Path:
    """The file of a round of the study in `folder`."""
    return folder / "rounds" / f"round-{number}.json"
