"""Print docs/columns.md: the columns of every table, from their one owner."""

from relstudy.studyapp.archive.meanings import as_markdown

if __name__ == "__main__":
    print(as_markdown(), end="")
