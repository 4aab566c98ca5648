#pragma once

#include <vector>

// Fills it by OpenMP's threads; returns how many they were.
int prepare(std::vector<float> &numbers);
