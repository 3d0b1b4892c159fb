"""python -m studyapp: the same as the command `relstudy`."""

from studyapp.cli import main

main(prog_name="relstudy")
