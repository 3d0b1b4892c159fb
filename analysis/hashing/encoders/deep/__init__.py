"""Deep encoders, on JAX and optax (the extra `deep`): DSH, its dispersed objective, and m-DSH.

Nothing here imports JAX before an encoder is fitted or applied.
"""
