"""A study's further questions about results, by their ids."""

from __future__ import annotations

from relstudy.common.errors import RelstudyError
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import ResultQuestion


def question_called(study: Study, name: str | None) -> ResultQuestion | None:
    """The further question of that id; None for None, the blocks' own question.

    Raises
    ------
    RelstudyError
        where no block asks it
    """
    if name is None:
        return None
    questions = study.result_questions
    if name not in questions:
        there = f"there are {', '.join(questions)}" if questions else "there is none; [[blocks.questions]] adds one"
        raise RelstudyError(f"no block asks the further question {name!r}; {there}")
    return questions[name]
