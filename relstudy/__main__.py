"""python -m relstudy: the same as the command `relstudy`."""

from relstudy.studyapp.cli import main

main(prog_name="relstudy")
