#pragma once

#include <cstdint>

// The submitted function: y = alpha * x + y, in place, on the default queue of the GPU.
// x and y are device pointers to `size` floats.
void custom_kernel(float alpha, const float* x, float* y, std::int64_t size);
