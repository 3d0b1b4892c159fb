"""The functions of a notebook, one module for each stage; `relstudy` itself names them all."""
