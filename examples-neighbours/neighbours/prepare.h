#pragma once

#include <vector>

// Fills `numbers` by OpenMP; returns the number of threads.
int prepare(std::vector<float> &numbers);
