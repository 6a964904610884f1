"""From findings, which are observations, to the causes that explain them: pure, on live, saved and replayed facts."""
