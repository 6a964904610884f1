"""The plan of a change and of its rollback, its limits and obstacles. Facts in, a plan out."""
