"""What is planned: the plan of a change, its limits and obstacles, and the way back. Facts in, a plan out."""
