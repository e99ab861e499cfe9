//!POPCORN leaderboard saxpy_cuda
//!POPCORN gpu H200

#include "task.h"

// A wrong answer: forgets y.
__global__ void scale_kernel(float alpha, const float* x, float* y, std::int64_t size) {
    const std::int64_t at = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
    if (at < size) y[at] = alpha * x[at];
}

void custom_kernel(float alpha, const float* x, float* y, std::int64_t size) {
    scale_kernel<<<(size + 255) / 256, 256>>>(alpha, x, y, size);
}
