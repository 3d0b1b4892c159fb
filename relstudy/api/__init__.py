"""What a notebook uses, one module for each stage; `relstudy` itself names it all."""
